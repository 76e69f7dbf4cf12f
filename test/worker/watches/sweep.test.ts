import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { progressOf } from '../../../src/domain/watch/watch.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { writeWatches } from '../../../src/watches/rows.ts'
import { ownWatches } from '../../../src/watches/store.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import {
  alertsOf,
  copyWatch,
  createWatch,
  inMinutes,
  MINUTE,
  readWatch,
  report,
  sweepIn,
  watchEventsOf,
} from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'

const checkIn = (account: TestAccount, id: string) =>
  account.call('POST', `/api/watches/${id}/checkIn`)

test('a missed deadline is found within a minute and raised once, however often it runs', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await report(account, device)
  const watch = await createWatch(account, device, { due: inMinutes(60), graceMinutes: 10 })
  await sweepIn(59)
  expect(await watchEventsOf(account)).toEqual([])
  await Promise.all([sweepIn(61), sweepIn(61)])
  expect(await watchEventsOf(account)).toEqual(['due'])
  await sweepIn(69)
  expect(await alertsOf(account, device)).toEqual([])
  await Promise.all([sweepIn(71), sweepIn(71)])
  await sweepIn(72)
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn'])
  expect(await watchEventsOf(account)).toEqual(['due', 'overdue'])
  const { alerts } = (await account.call('GET', `/api/devices/${device}/alerts`)).body
  expect(alerts[0]).toMatchObject({
    text: `Crossing: no check-in by ${watch.due.slice(0, 16).replace('T', ' ')} UTC.`,
    emergency: false,
    latitude: 1,
    positionSource: 'last-known',
  })
  const { events } = (await account.call('GET', '/api/events?types=watch.overdue')).body
  expect(events[0].data).toEqual({
    deviceId: device,
    watchId: watch.id,
    nextDue: watch.nextDue,
    alertId: alerts[0].id,
  })
  const overdue = await readWatch(account, watch.id)
  expect(overdue).toMatchObject({ state: 'overdue', alertId: alerts[0].id })
  // A late check-in completes it.
  const completed = (await checkIn(account, watch.id)).body.watch
  expect(completed).toMatchObject({ state: 'completed', alertId: alerts[0].id })
  expect(await watchEventsOf(account)).toEqual(['due', 'overdue', 'checkedIn'])
})

test('the very instant at which the grace ends is overdue, for readers and the sweep', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id, nextDue } = await createWatch(account, device, { counts: 'checkIn' })
  await sweep(env as never, Date.parse(nextDue) - 1)
  expect(await alertsOf(account, device)).toEqual([])
  await sweep(env as never, Date.parse(nextDue))
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn'])
  const other = await createWatch(account, device, { counts: 'checkIn' })
  await env.DB.prepare('UPDATE watches SET next_due = ?1, check_at = ?1 WHERE id = ?2')
    .bind(Date.now(), other.id)
    .run()
  expect((await readWatch(account, other.id)).state).toBe('overdue')
  expect((await readWatch(account, id)).state).toBe('overdue')
})

test('an interval goes on by contact, and again after it was overdue', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const watch = await createWatch(account, device, { remindMinutes: 10 })
  await report(account, device)
  await sweepIn(55)
  expect(await watchEventsOf(account)).toEqual(['checkedIn', 'due'])
  await sweepIn(61)
  expect(await watchEventsOf(account)).toEqual(['checkedIn', 'due', 'overdue'])
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn'])
  // The alert itself is no contact.
  await sweepIn(62)
  expect((await readWatch(account, watch.id)).state).toBe('overdue')
  await report(account, device)
  await Promise.all([sweepIn(1), sweepIn(1)])
  const again = await readWatch(account, watch.id)
  expect(again.state).toBe('active')
  expect(again.nextDue > watch.nextDue).toBe(true)
  await sweepIn(62)
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn', 'MissedCheckIn'])
  expect(await watchEventsOf(account)).toEqual([
    'checkedIn',
    'due',
    'overdue',
    'checkedIn',
    'due',
    'overdue',
  ])
})

test('a report does not count where a message or a person must', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createWatch(account, device, { counts: 'message' })
  await createWatch(account, device, { counts: 'checkIn', alertName: 'Overdue' })
  await report(account, device)
  await sweepIn(61)
  expect((await alertsOf(account, device)).sort()).toEqual(['MissedCheckIn', 'Overdue'])
})

test('a crash between the batch and the ledger delays the alert, and raises it once', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createWatch(account, device)
  const LEDGER = {
    idFromName: () => '',
    get: () => ({
      raisePendingAlerts: async () => {
        throw new Error('crash')
      },
    }),
  }
  await sweep({ ...env, LEDGER } as never, Date.now() + 61 * MINUTE)
  expect(await watchEventsOf(account)).toEqual(['due', 'overdue'])
  const { alerts } = (await account.call('GET', `/api/devices/${device}/alerts`)).body
  expect(alerts).toEqual([])
  await Promise.all([sweepIn(62), sweepIn(62)])
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn'])
})

test('a check-in at the same time as the sweep is not undone', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const watch = await createWatch(account, device, { due: inMinutes(60), counts: 'checkIn' })
  const db = openCell(env, 0)
  const before = await ownWatches.find(db, account.id, watch.id)
  if (!before) throw new Error('no watch')
  await checkIn(account, watch.id)
  // What a run has read before the check-in.
  const stale = {
    before,
    progress: { ...progressOf(before), state: 'overdue' as const },
    events: [{ id: 'evt_stale', type: 'watch.overdue', time: 1, data: {} }],
    raise: { deviceId: device, alert: { id: 'alr_stale' } } as never,
  }
  const { written, raised } = await writeWatches(db, [stale], Date.now())
  expect([written.size, raised.size]).toEqual([0, 0])
  expect((await readWatch(account, watch.id)).state).toBe('completed')
  expect(await watchEventsOf(account)).toEqual(['checkedIn'])
  for (let round = 0; round < 3; round++) {
    const { id } = await createWatch(account, device, { due: inMinutes(60), counts: 'checkIn' })
    await Promise.all([sweepIn(61), checkIn(account, id)])
    expect((await readWatch(account, id)).state).toBe('completed')
  }
  const missed = (await watchEventsOf(account)).filter((type) => type === 'overdue')
  expect(await alertsOf(account, device)).toHaveLength(missed.length)
})

test('a watch for emergencies opens one', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createWatch(account, device, { emergency: true, alertName: 'Missing' })
  await sweepIn(61)
  expect(await alertsOf(account, device)).toEqual(['Missing'])
  const { alerts } = (await account.call('GET', '/api/alerts?emergency=true')).body
  expect(alerts).toMatchObject([{ deviceId: device, state: 'open', emergency: true }])
})

test('of an expired device, only a missed check-in that is an emergency is raised', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device)
  await createWatch(account, device, { emergency: true, alertName: 'Missing' })
  await account.call('PATCH', `/api/devices/${device}`, {
    body: { limits: { expires: true, expirationDate: '2020-01-01' } },
  })
  await sweepIn(61)
  expect(await alertsOf(account, device)).toEqual(['Missing'])
  expect(await readWatch(account, id)).toMatchObject({ state: 'overdue', alertId: null })
  expect((await watchEventsOf(account)).sort()).toEqual(['due', 'due', 'overdue', 'overdue'])
})

test('ended watches and those of deleted devices raise nothing', async () => {
  const account = await openAccount()
  const [device, deleted] = [await createDevice(account), await createDevice(account)]
  for (const action of ['complete', 'cancel']) {
    const { id } = await createWatch(account, device)
    await account.call('POST', `/api/watches/${id}/${action}`)
  }
  await createWatch(account, deleted)
  await account.call('DELETE', `/api/devices/${deleted}`)
  await sweepIn(61)
  expect(await alertsOf(account, device)).toEqual([])
  expect(await watchEventsOf(account)).toEqual([])
})

test('watches of several accounts in one page get numbers of their own', async () => {
  const accounts = [await openAccount(), await openAccount()] as const
  for (const account of accounts) {
    const device = await createDevice(account)
    for (let count = 0; count < 3; count++) await createWatch(account, device)
  }
  await sweepIn(61)
  for (const account of accounts) {
    const { events } = (await account.call('GET', '/api/events')).body
    const sequences = events.map(({ sequence }: { sequence: number }) => sequence)
    expect(sequences).toEqual(sequences.map((_: number, index: number) => index + 1))
    expect((await watchEventsOf(account)).filter((type) => type === 'overdue')).toHaveLength(3)
  }
})

test('reminders beyond those of one run come in the next minute, and no alert waits for them', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device, { counts: 'checkIn', remindMinutes: 10 })
  const late = await createWatch(account, device, { due: inMinutes(51), counts: 'checkIn' })
  await copyWatch(id, 59)
  const other = await openAccount()
  const { id: ofOther } = await createWatch(other, await createDevice(other), {
    due: inMinutes(61.5),
    counts: 'checkIn',
    remindMinutes: 10,
  })
  const count = async (type: string) =>
    (await watchEventsOf(account)).filter((one) => one === type).length
  await sweepIn(52)
  // That of the deadline that was missed, and those of the account's share of reminders.
  expect([await count('due'), await count('overdue')]).toEqual([26, 1])
  // The account does not take them all.
  expect(await watchEventsOf(other)).toEqual(['due'])
  expect((await readWatch(other, ofOther)).state).toBe('active')
  expect((await readWatch(account, late.id)).state).toBe('overdue')
  await sweepIn(53)
  await sweepIn(54)
  expect(await count('due')).toBe(61)
})

test('a contact is found behind more overdue watches than one run looks at', async () => {
  const account = await openAccount()
  const [silent, device] = [await createDevice(account), await createDevice(account)]
  const { id, creation } = await createWatch(account, device)
  await copyWatch((await createWatch(account, silent)).id, 20_500)
  await env.DB.prepare(
    `UPDATE watches SET state = 'overdue', creation = iif(id = ?1, ?2, creation + abs(random() % ?4))
      WHERE account_id = ?3`,
  )
    .bind(id, Date.parse(creation) + 2 * MINUTE, account.id, MINUTE)
    .run()
  await report(account, device)
  const isFound = async () => (await watchEventsOf(account)).includes('checkedIn')
  await sweepIn(1)
  expect(await isFound()).toBe(false)
  await sweepIn(2)
  expect(await isFound()).toBe(true)
})

test('a watch that cannot be settled holds up those of no other account', async () => {
  const [broken, account] = [await openAccount(), await openAccount()]
  const devices = [await createDevice(broken), await createDevice(account)] as const
  const bad = await createWatch(broken, devices[0], { due: inMinutes(10) })
  await createWatch(account, devices[1], { due: inMinutes(20) })
  const grace = env.DB.prepare(
    `UPDATE watches SET record = json_set(record, '$.graceMinutes', ?) WHERE id = ?`,
  )
  await grace.bind('soon', bad.id).run()
  await sweepIn(30)
  expect(await alertsOf(account, devices[1])).toEqual(['MissedCheckIn'])
  expect(await alertsOf(broken, devices[0])).toEqual([])
  await grace.bind(0, bad.id).run()
  await sweepIn(31)
  expect(await alertsOf(broken, devices[0])).toEqual(['MissedCheckIn'])
})
