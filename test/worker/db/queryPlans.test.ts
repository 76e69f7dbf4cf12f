import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, test } from 'vitest'
import { findKeyStatus } from '../../../src/auth/keyStatus.ts'
import { findMoved } from '../../../src/db/movedCell.ts'
import type { Page, Position } from '../../../src/db/page.ts'
import { packLocation } from '../../../src/db/queries/locations.ts'
import { addUsage } from '../../../src/db/queries/usage.ts'
import { runBatch } from '../../../src/db/statement.ts'
import { listDevices } from '../../../src/devices/list.ts'
import { findDevice, hasGroup } from '../../../src/devices/store.ts'
import type { Group } from '../../../src/domain/account/group.ts'
import type { UsageDays } from '../../../src/domain/usage/usage.ts'
import { createGroup, deleteGroup, updateGroup } from '../../../src/groups/edit.ts'
import { findGroup, isFull, listGroups, resolveGroup } from '../../../src/groups/store.ts'
import { prepareQuarantine } from '../../../src/ingest/quarantine.ts'
import { findKey, insertKey, listKeys } from '../../../src/keys/store.ts'
import { applyEffects } from '../../../src/ledger/outbox/projection/applyEffects.ts'
import {
  deleteChanges,
  deleteMove,
  findChanged,
  findMove,
  leaseMove,
  leaveUnmoved,
  listMoves,
  listMovingAccounts,
  readChanges,
  renew,
  saveMove,
  startMove,
} from '../../../src/move/store.ts'
import {
  deleteGoneSubscription,
  findPushSubscription,
} from '../../../src/notify/pushSubscriptions.ts'
import {
  findLinkedUser,
  findUserByEmail,
  replacePassword,
} from '../../../src/passwordLinks/store.ts'
import { loadDescriber } from '../../../src/places/store.ts'
import {
  deleteSubscription,
  listSubscriptions,
  saveSubscription,
} from '../../../src/pushSubscriptions/store.ts'
import { systemContext } from '../../../src/serviceContext.ts'
import {
  endAllSessions,
  endSession,
  findSession,
  findSignInUser,
  insertSession,
  listSessions,
  rotateSession,
} from '../../../src/sessions/store.ts'
import { findPayload, readPayloads } from '../../../src/sources/payloads/payloads.ts'
import { takeCheckIns } from '../../../src/sources/push/checkIns.ts'
import { storeMessages } from '../../../src/sources/push/messages.ts'
import { findAgreeing } from '../../../src/sources/quarantine/accept.ts'
import { deleteQuarantined } from '../../../src/sources/quarantine/quarantine.ts'
import { ownSources, touchSource } from '../../../src/sources/store.ts'
import { findClaimant } from '../../../src/sources/unclaimed/claim.ts'
import {
  countReports,
  deleteReports,
  readReports,
  setClaimedAt,
} from '../../../src/sources/unclaimed/reports.ts'
import { resumeImports } from '../../../src/sources/unclaimed/resumeImports.ts'
import { discardUnclaimed, keepUnclaimed } from '../../../src/sources/unclaimed/unclaimed.ts'
import {
  insertMonth,
  listMonth,
  readClosedMonths,
  readCountedDays,
  reopenMonths,
} from '../../../src/usage/store.ts'
import { createUser, deleteUser, updateUser } from '../../../src/users/edit.ts'
import { findUser, ownUsers, searchUsers } from '../../../src/users/store.ts'
import { createWatch, findByLink, findRunning } from '../../../src/watches/progress.ts'
import { readDueWatches, readOverdueWatches, writeWatches } from '../../../src/watches/rows.ts'
import { findVisibleWatch, listWatches } from '../../../src/watches/store.ts'
import {
  DEVICES,
  GROUPS,
  LARGE,
  type LargeAccount,
  openLargeAccount,
  USERS,
} from './largeAccount.ts'
import { recordCell, rowsReadBy } from './recordedCell.ts'
import { planOf, scansOf } from './scans.ts'

let account: LargeAccount
const id = (prefix: string, n: number) => account.nth(prefix, n)

beforeAll(async () => {
  account = await openLargeAccount()
}, 120_000)

const record = (n: number) => ({
  name: `New ${n}`,
  email: `new${n}@a.io`,
  country: 'PT',
  timeZone: 'UTC',
  phone: null,
  notify: { email: true, sms: false, push: true, voice: false },
  description: '',
  message: '',
  disabled: false,
  disabledMessage: '',
  tags: {},
  privileges: ['read' as const],
  groupId: id('grp', 2),
  deviceId: id('dev', 2),
  adminDevices: null,
  from: null,
  expires: null,
})

describe(`with ${USERS} users, ${GROUPS} groups and ${DEVICES} devices`, () => {
  test('no statement of lists, searches and edits scans the account', async () => {
    const { db, statements } = recordCell()
    const own = account.id
    const page = { accountId: own, after: [], limit: 100 }
    await ownUsers.list(db, own, '', 100)
    await ownUsers.list(db, own, id('usr', 5000), 100)
    const after = ['name', 'user 15', id('usr', 15)]
    await searchUsers(db, { ...page, q: 'user 1', after })
    await searchUsers(db, { ...page, q: 'user 1', after: [...after, 1] })
    await searchUsers(db, { ...page, q: 'user1' })
    const created = await createUser(db, {
      accountId: own,
      id: id('usr', 900_001),
      record: record(1),
      password: null,
      now: 1,
    })
    if (!created.ok) throw new Error(created.refusal)
    await updateUser(db, {
      accountId: own,
      before: created.row,
      record: record(2),
      password: null,
      now: 2,
    })
    await insertKey(
      db,
      own,
      {
        id: 'key_size',
        name: 'k',
        scopes: ['read'],
        hash: '',
        userId: created.row.id,
        expires: null,
        apiVersion: null,
      },
      3,
    )
    await findKeyStatus(db, 'key_size', 3)
    await findKey(db, own, 'key_size', 3)
    await listKeys(db, { accountId: own, userId: created.row.id, after: '', limit: 100, now: 3 })
    await deleteUser(db, { accountId: own, id: created.row.id, versions: [2], now: 4 })
    expect(await findUser(db, own, created.row.id)).toBeNull()

    for (const [after, q] of [
      [[], undefined],
      [[id('grp', 500)], undefined],
      [['fleet 15', id('grp', 15)], 'fleet 1'],
      [['fleet 15', id('grp', 15), 1], 'fleet 1'],
    ] as const)
      await listGroups(db, { accountId: own, groupId: null }, { after: [...after], q, limit: 100 })
    const long = { sort: 'name' as const, after: ['tern', 25_000, 1], limit: 10 }
    await listDevices(db, { accountId: own, groupId: null }, long, 1)
    await resolveGroup(db, own, { id: 'Fleet 7', nameKey: 'fleet 7' })
    await loadDescriber(env.ASSETS, db, { accountId: own, groupId: null })
    const made = await createGroup(db, {
      accountId: own,
      id: id('grp', 900_001),
      record: { name: 'New', description: '', devices: [id('dev', 7)] },
      now: 1,
    })
    if (!made.ok) throw new Error(made.refusal)
    await updateGroup(db, {
      accountId: own,
      before: made.row,
      record: { name: 'Newer', description: '', devices: [id('dev', 8)] },
      now: 2,
    })
    await deleteGroup(db, { accountId: own, id: made.row.id, versions: [2], now: 3 })
    expect(await findGroup(db, own, made.row.id)).toBeNull()
    await isFull(db, id('grp', 0))
    await hasGroup(db, { accountId: own, groupId: null }, id('grp', 0))
    await findDevice(db, { accountId: own, groupId: id('grp', 1) }, id('dev', 1), 5)
    await applyEffects(
      db,
      own,
      [{ kind: 'device-gone', seq: 1, id: id('dev', 1), key: -1, at: 5 }],
      5,
    )
    expect(statements.length).toBeGreaterThan(30)
    expect(await scansOf(statements)).toEqual([])
  })

  test('no statement of sign-ins, sessions and password links scans the account', async () => {
    const { db, statements } = recordCell()
    const own = account.id
    const user = { accountId: own, id: id('usr', 900_002), record: record(3), now: 1 }
    expect((await createUser(db, { ...user, password: 'hash' })).ok).toBe(true)
    const found = await findSignInUser(db, own, 'new3@a.io')
    expect(found?.password).toBe('hash')
    const session = { accountId: own, userId: user.id, password: 'hash', userAgent: '', now: 2 }
    for (const name of ['ses_1', 'ses_2']) await insertSession(db, { ...session, id: name })
    const browser = {
      accountId: own,
      userId: user.id,
      sessionId: 'ses_1',
      userAgent: '',
      creation: 2,
    }
    const keys = { endpoint: 'https://push.example/1', p256dh: 'B', auth: 'a', keyId: 'psk_1' }
    const subscription = await saveSubscription(db, { id: 'psh_1', ...browser, ...keys }, 10)
    if (!subscription) throw new Error('no subscription')
    expect(await listSubscriptions(db, own, user.id)).toEqual([subscription])
    expect(await findPushSubscription(db, own, 'psh_1')).toEqual(subscription)
    expect(await deleteSubscription(db, subscription, 4)).toBe(true)
    await deleteGoneSubscription(db, subscription)
    const stored = await findSession(db, 'ses_1')
    if (!stored) throw new Error('no session')
    await findKeyStatus(db, 'ses_1', 3)
    await rotateSession(db, 'ses_1', stored, 3)
    expect(await listSessions(db, own, user.id, 4)).toHaveLength(2)
    expect(await endSession(db, { accountId: own, id: 'ses_1', userId: user.id, now: 4 })).toBe(
      true,
    )
    await endAllSessions(db, own, user.id, 4)
    const linked = await findUserByEmail(db, own, 'new3@a.io')
    if (!linked) throw new Error('no user')
    expect(await findLinkedUser(db, user.id)).toEqual(linked)
    expect(await replacePassword(db, linked, 'new hash', 5)).toBe(true)
    expect(await replacePassword(db, linked, 'newer hash', 6)).toBe(false)
    expect(statements.length).toBeGreaterThan(15)
    expect(await scansOf(statements)).toEqual([])
  })

  test('no statement of sources, their reports and commands scans the account', async () => {
    const { db, statements } = recordCell()
    const holder = { accountId: account.id, sourceId: id('src', 0) }
    const now = Date.now()
    const location = { dateTime: now, latitude: 1, longitude: 1 }
    const item = (identifier: string, key: string) =>
      ({ kind: 'location', identifier, key, location }) as const
    // One that is kept, and one for which there is no place.
    await keepUnclaimed(db, holder, [item('u000007', 'new'), item('full', 'new')], now)
    const reports = await readReports(db, holder, 'u000007', 1000)
    expect(reports).toHaveLength(100)
    expect(await countReports(db, holder, 'u000007')).toBe(100)
    const numbers = reports.map(({ number }) => number)
    await deleteReports(db, holder, 'u000007', numbers)
    expect(await discardUnclaimed(db, holder, 'u000008', now)).toBe(true)
    await setClaimedAt(db, holder, 'u000009', now)
    await findClaimant(db, account.id, 'imei77')
    const device = { key: account.firstKey, id: id('dev', 0), maxSpeed: 1200 }
    const packed = packLocation(location)
    const fix = { device, packed, reason: 'speed', receivedAt: now } as const
    const quarantine = await prepareQuarantine(db, account.id, [fix])
    await runBatch(db, quarantine(sql`true`))
    await findAgreeing(db, device)
    const discarding = { db, accountId: account.id, now: () => now }
    const action = 'device.quarantineDiscarded'
    await deleteQuarantined(discarding, { device, ids: [id('qua', 4)], action })
    const message = { kind: 'message', dateTime: now, text: 'Hi', format: 'Text' } as const
    const written = { ...message, identifier: 'x', key: 'm' }
    await storeMessages(db, account.id, [{ item: written, device, receivedAt: now }])
    const job = { env, db, cell: 0, accountId: account.id, name: 'test', now }
    for (const text of ['CHECK-IN 6H', 'CHECK-IN']) {
      const one = { item: { ...written, text, key: text }, receivedAt: now }
      await storeMessages(db, account.id, [{ ...one, device }])
      await takeCheckIns(systemContext(job), [{ identifier: 'x', arrived: [one], device }])
    }
    expect(statements.filter(({ sql: text }) => text.includes('UPDATE "watches"'))).toHaveLength(1)
    await findPayload(db, holder, id('pay', 0))
    await readPayloads(db, holder, { from: 0, to: 100, after: '' }, 10)
    await touchSource(db, id('src', 0), now)
    await ownSources.find(db, account.id, id('src', 0))
    await ownSources.list(db, account.id, '', 50)
    expect(statements.length).toBeGreaterThan(20)
    expect(await scansOf(statements)).toEqual([])
  })

  test('the sweep finds claimed identifiers without reading the others', async () => {
    const { db, statements } = recordCell()
    await resumeImports({ env, cell: 0, db, now: Date.now(), mayGoOn: () => false })
    expect(await scansOf(statements)).toEqual([])
    expect(await rowsReadBy(statements)).toBeLessThanOrEqual(20)
  })

  test.each([
    [
      'name',
      ['tern 25000', 25_000],
      /INDEX devices_name \(account_id=\? AND name_key=\? AND key[<>]\?\)/,
    ],
    [
      '-name',
      ['tern 25000', 25_000],
      /INDEX devices_name \(account_id=\? AND name_key=\? AND key[<>]\?\)/,
    ],
    [
      'creation',
      [25_000, 25_000],
      /INDEX devices_creation \(account_id=\? AND creation=\? AND key[<>]\?\)/,
    ],
    [
      '-creation',
      [25_000, 25_000],
      /INDEX devices_creation \(account_id=\? AND creation=\? AND key[<>]\?\)/,
    ],
  ] as const)(
    'a page of devices by %s seeks to its cursor in an index',
    async (sort, after, seek) => {
      const { db, statements } = recordCell()
      const filters = [{}, { state: 'active' }, { q: 'tern' }, { contains: 'ern' }] as const
      for (const filter of filters) {
        const listing = { ...filter, sort, after: [...after], limit: 10 }
        const page = await listDevices(db, { accountId: account.id, groupId: null }, listing, 1)
        expect(page.rows).toHaveLength(10)
      }
      const pages = statements.filter(({ sql }) => sql.includes('lastLocation'))
      expect(pages).toHaveLength(filters.length)
      expect(await scansOf(pages)).toEqual([])
      for (const page of pages) {
        const steps = await planOf(page)
        expect(steps.map(({ detail }) => detail).join('\n')).toMatch(seek)
      }
    },
  )

  test.each(['account', 'group'])(
    'a search by a part of a name scans at most 5,000 devices of the %s for a page',
    async (of) => {
      const { db, statements } = recordCell()
      const viewer = {
        accountId: account.id,
        groupId: of === 'group' ? account.fullGroup : null,
      }
      const listing = { contains: 'nowhere', sort: 'name' as const, after: [], limit: 100 }
      const first = await listDevices(db, viewer, listing, 1)
      expect(first.rows).toEqual([])
      expect(await scansOf(statements)).toEqual([])
      // 500, then 5,000, each in the index and in the table, and the ends of both scans.
      expect(await rowsReadBy(statements)).toBeLessThan(3.2 * 5500)
      if (of === 'group') return
      let [pages, next] = [1, first.next]
      for (; next; pages++)
        next = (await listDevices(db, viewer, { ...listing, after: next }, 1)).next
      expect(pages).toBeLessThanOrEqual(DEVICES / 5000 + 1)
    },
  )

  test('no statement of watches scans the devices or the watches of others', async () => {
    const { db, statements } = recordCell()
    const viewer = { accountId: account.id, groupId: null }
    const created = await createWatch(
      { db, cell: 0, groupId: null },
      {
        accountId: account.id,
        id: 'wat_plan',
        record: {
          name: 'Plan',
          deviceId: id('dev', 3),
          due: null,
          everyMinutes: 60,
          graceMinutes: 0,
          counts: 'any',
          remindMinutes: null,
          alertName: 'MissedCheckIn',
          emergency: false,
          notifications: [],
        },
        now: 1,
      },
    )
    if (!created.ok) throw new Error(created.refusal)
    const { row } = created
    expect(await findRunning(db, account.id, row.deviceKey)).toHaveLength(1)
    expect(await findByLink(db, row.link)).not.toBeNull()
    for (const groupId of [null, account.fullGroup])
      for (const deviceId of [undefined, row.deviceId])
        await listWatches(db, { ...viewer, groupId }, { after: '', limit: 10, deviceId })
    expect(await findVisibleWatch(db, viewer, row.id)).not.toBeNull()
    expect(await readDueWatches(db, { now: 3_600_001, limit: 10 })).toHaveLength(1)
    await readOverdueWatches(db, { creation: 0, id: '', limit: 10 })
    const event = { id: 'evt_plan', type: 'watch.due', time: 2, data: {} }
    const change = { before: row, progress: row, events: [event], raise: null }
    expect((await writeWatches(db, [change], 2)).written.size).toBe(1)
    expect(await scansOf(statements)).toEqual([])
  })

  test('usage is found by account and month', async () => {
    const { db, statements } = recordCell()
    const own = account.id
    const counts = { locations: 1, requests: 1, storageBytes: 64 }
    await addUsage(db, { accountId: own, day: '2099-10-31', ...counts })
    await addUsage(db, { accountId: own, day: '2099-11-01', ...counts })
    const span = { from: '2099-11-01', to: '2099-11-30' }
    expect(await readCountedDays(db, own, span)).toHaveLength(2)
    const days = { licenses: [], locations: [], requests: [], storageBytes: [], messages: [] }
    const usage: UsageDays = { from: span.from, timeZone: 'UTC', ...days, exact: [] }
    await insertMonth(db, { accountId: own, month: '2099-11', record: usage, now: 1 })
    expect(await readClosedMonths(db, own, ['2099-11', '2099-12'])).toHaveLength(1)
    const listing = {
      month: '2099-11',
      openedBefore: Number.MAX_SAFE_INTEGER,
      after: own.slice(0, -1),
      limit: 10,
    }
    expect((await listMonth(db, listing)).find((row) => row.id === own)?.record).toEqual(usage)
    expect(await scansOf(statements)).toEqual([])
  })

  test('moves, and what changes meanwhile, are found by account', async () => {
    const { db, statements } = recordCell()
    const accountId = account.id
    await startMove(db, { accountId, fromCell: 0, toCell: 1, now: 1 })
    expect(await listMoves(db, 1)).toEqual([accountId])
    const move = await leaseMove(db, accountId, { lease: 'plans', now: 1 })
    if (!move) throw new Error('no move')
    expect(await listMovingAccounts(db)).toEqual(new Set([accountId]))
    await saveMove(db, move, { step: 'cancelled', leasedUntil: 0 })
    expect(await findMove(db, accountId)).toMatchObject({ step: 'cancelled' })
    await findMoved(db, accountId)
    await renew(db, move)
    await leaveUnmoved(db, accountId)
    await readChanges(db, accountId, 10)
    await findChanged(db, { accountId, name: 'zones', keys: ['["zon_1"]'] })
    await deleteChanges(db, accountId)
    await reopenMonths(db, accountId, Date.now())
    await deleteMove(db, accountId)
    expect(await scansOf(statements)).toEqual([])
  })

  test('adding or removing one of 5,000 devices writes one membership', async () => {
    const large = await findGroup(recordCell().db, account.id, id('grp', 0))
    if (!large) throw new Error('no group')
    expect(large.devices).toHaveLength(LARGE)
    const { devices, description, name } = large
    const more = recordCell()
    const added = await updateGroup(more.db, {
      accountId: account.id,
      before: large,
      record: { name, description, devices: [...devices, id('dev', 40_000)] },
      now: 1,
    })
    if (!added.ok) throw new Error(added.refusal)
    expect(added.row.devices).toHaveLength(LARGE + 1)
    // A membership and its four indexes, the group's version, and the account's stored bytes.
    expect(more.written()).toBeLessThanOrEqual(8)
    const less = recordCell()
    const removed = await updateGroup(less.db, {
      accountId: account.id,
      before: added.row,
      record: { name, description, devices: devices.slice(1) },
      now: 2,
    })
    if (!removed.ok) throw new Error(removed.refusal)
    expect(removed.row.devices).toHaveLength(LARGE - 1)
    expect(less.written()).toBeLessThanOrEqual(15)
  })

  test('pages of groups with many devices are shorter, and list each group once and complete', async () => {
    const { db } = recordCell()
    await env.DB.prepare(
      `INSERT INTO group_devices (group_id, device_key, account_id)
       SELECT g.id, m.device_key, ?1 FROM groups g CROSS JOIN group_devices m WHERE g.account_id = ?1 AND g.id BETWEEN ?2 AND ?3 AND m.group_id = ?4 ON CONFLICT DO NOTHING`,
    )
      .bind(account.id, id('grp', 10), id('grp', 16), id('grp', 0))
      .run()
    const sizes: number[] = []
    const pages: number[] = []
    for (let after: Position | null = []; after !== null; ) {
      const viewer = { accountId: account.id, groupId: null }
      const page: Page<Group> = await listGroups(db, viewer, { after, limit: 1000 })
      sizes.push(...page.rows.map(({ devices }) => devices.length))
      pages.push(page.rows.length)
      after = page.next
    }
    expect(sizes).toHaveLength(GROUPS + 1)
    expect(sizes.slice(10, 17)).toEqual(Array(7).fill(LARGE - 1))
    expect(pages.length).toBeGreaterThan(2)
    expect(pages.every((length) => length > 0)).toBe(true)
  })
})
