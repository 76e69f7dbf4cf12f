import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { findKeyStatus } from '../../../src/auth/keyStatus.ts'
import { openCell } from '../../../src/db/open.ts'
import { listDevices } from '../../../src/devices/list.ts'
import { findDevice, hasGroup } from '../../../src/devices/store.ts'
import { createGroup, deleteGroup, updateGroup } from '../../../src/groups/edit.ts'
import { findGroup, isFull, listGroups, resolveGroup } from '../../../src/groups/store.ts'
import { findKey, insertKey, listKeys } from '../../../src/keys/store.ts'
import { applyEffects } from '../../../src/ledger/projection/applyEffects.ts'
import { createUser, deleteUser, updateUser } from '../../../src/users/edit.ts'
import { findUser, listUsers, searchUsers } from '../../../src/users/store.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'

const [USERS, GROUPS, DEVICES, LARGE] = [10_000, 1000, 50_000, 5000]
const id = (prefix: string, n: number) =>
  `${prefix}_${account.id.slice(4, 13)}${String(n).padStart(6, '0')}`

interface RecordedStatement {
  sql: string
  values: unknown[]
}

/** The cell, recording every statement that runs on it. */
const recorded = () => {
  const statements: RecordedStatement[] = []
  const made = new Map<D1PreparedStatement, RecordedStatement>()
  let written = 0
  const member = (target: object, name: PropertyKey) => {
    const found = Reflect.get(target, name)
    return typeof found === 'function' ? found.bind(target) : found
  }
  const bind = (sql: string, values: unknown[]) => {
    const statement = env.DB.prepare(sql).bind(...values)
    made.set(statement, { sql, values })
    for (const name of ['all', 'raw', 'first', 'run'] as const) {
      const run = member(statement, name)
      const value = (...options: unknown[]) => {
        statements.push({ sql, values })
        return run(...options)
      }
      Object.defineProperty(statement, name, { value })
    }
    return statement
  }
  const batch = async (list: D1PreparedStatement[]) => {
    statements.push(...list.map((statement) => made.get(statement) as RecordedStatement))
    const results = await env.DB.batch(list)
    for (const { meta } of results) written += meta.rows_written
    return results
  }
  const prepare = (sql: string) => ({ bind: (...values: unknown[]) => bind(sql, values) })
  const DB = new Proxy(env.DB, {
    get: (db, name) => (name === 'prepare' ? prepare : name === 'batch' ? batch : member(db, name)),
  })
  return { db: openCell({ ...env, DB }, 0), statements, written: () => written }
}

/** True for a step that reads a whole table, or all rows of an account, instead of an index range. */
const isScan = (step: string): boolean =>
  /^SCAN (?!\w+ VIRTUAL TABLE|CONSTANT ROW|\(subquery-\d+\)|f$)/.test(step) ||
  /USING .*INDEX (?!webhooks_)\w+ \(account_id=\?\)$/.test(step)

const scansOf = async (statements: RecordedStatement[]): Promise<string[]> => {
  const found: string[] = []
  for (const { sql, values } of statements) {
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<{ detail: string }>()
    found.push(
      ...results.filter(({ detail }) => isScan(detail)).map(({ detail }) => `${detail} in ${sql}`),
    )
  }
  return found
}

let account: TestAccount

beforeAll(async () => {
  account = await openAccount({ licenses: 1 })
  const numbers = (most: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${most - 1})`
  const named = (prefix: string) => `'${id(prefix, 0).slice(0, -6)}' || printf('%06d', i)`
  const number = await env.DB.prepare('SELECT number FROM accounts WHERE id = ?')
    .bind(account.id)
    .first<number>('number')
  const key = `${(number ?? 0) * 2 ** 24} + i`
  for (const sql of [
    `INSERT INTO devices (key, id, account_id, name, name_key, description, min, model, tags, expires, daily_email_limit, daily_sms_limit, creation, last_modified, version, seq)
     SELECT ${key}, ${named('dev')}, ?1, 'Tern ' || i, 'tern ' || i, '', '', '', '{}', 0, 1, 1, i, i, 1, 0 FROM n`,
    `INSERT INTO groups (id, account_id, name, name_key, description, creation, last_modified, version)
     SELECT ${named('grp')}, ?1, 'Fleet ' || i, 'fleet ' || i, '', i, i, 1 FROM n`,
    `INSERT INTO users (id, account_id, name, name_key, email, email_key, country, time_zone, notify_email, notify_sms, description, message,
       disabled, disabled_message, tags, privileges, group_id, device_id, creation, modification, version)
     SELECT ${named('usr')}, ?1, 'User ' || i, 'user ' || i, 'user' || i || '@a.io', 'user' || i || '@a.io', 'PT', 'UTC', 1, 0, '', '', 0, '', '{}',
       '["read"]', iif(i % 10 = 0, '${id('grp', 1)}', NULL), iif(i % 10 = 1, '${id('dev', 1)}', NULL), i, i, 1 FROM n`,
  ]) {
    const most = sql.includes('INTO devices')
      ? DEVICES
      : sql.includes('INTO groups')
        ? GROUPS
        : USERS
    await env.DB.prepare(sql.replace('INSERT', `${numbers(most)} INSERT`))
      .bind(account.id)
      .run()
  }
  // The first group is large; all others have twenty devices each.
  await env.DB.prepare(
    `${numbers(LARGE)} INSERT INTO group_devices (group_id, device_key, account_id) SELECT '${id('grp', 0)}', ${key}, ?1 FROM n
     UNION ALL SELECT g.id, ${key} + 20 * substr(g.id, -6), ?1 FROM groups g, n WHERE g.account_id = ?1 AND g.id > '${id('grp', 0)}' AND i < 20`,
  )
    .bind(account.id)
    .run()
}, 60_000)

const record = (n: number) => ({
  name: `New ${n}`,
  email: `new${n}@a.io`,
  country: 'PT',
  timeZone: 'UTC',
  phone: null,
  notify: { email: true, sms: false },
  description: '',
  message: '',
  disabled: false,
  disabledMessage: '',
  tags: {},
  privileges: ['read' as const],
  group: id('grp', 2),
  deviceId: id('dev', 2),
  adminDevices: null,
  from: null,
  expires: null,
})

describe(`with ${USERS} users, ${GROUPS} groups and ${DEVICES} devices`, () => {
  test('no statement of lists, searches and edits scans the account', async () => {
    const { db, statements } = recorded()
    const own = account.id
    const page = { accountId: own, after: null, limit: 100 }
    await listUsers(db, page)
    await listUsers(db, { ...page, after: ['id', '', id('usr', 5000)] })
    await searchUsers(db, 'user 1', { ...page, after: ['name', 'user 15', id('usr', 15)] })
    await searchUsers(db, 'user1', page)
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
      before: created.user,
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
        userId: created.user.id,
        expires: null,
      },
      3,
    )
    await findKeyStatus(db, 'key_size', 3)
    await findKey(db, own, 'key_size', 3)
    await listKeys(db, { accountId: own, userId: created.user.id, after: '', limit: 100, now: 3 })
    await deleteUser(db, { accountId: own, id: created.user.id, versions: [2], now: 4 })
    expect(await findUser(db, own, created.user.id)).toBeNull()

    for (const [after, q] of [
      ['', undefined],
      [id('grp', 500), undefined],
      ['fleet 15', 'fleet 1'],
    ] as const)
      await listGroups(db, { accountId: own, after, q, limit: 100 })
    await resolveGroup(db, own, { id: 'Fleet 7', nameKey: 'fleet 7' })
    const made = await createGroup(db, {
      accountId: own,
      id: id('grp', 900_001),
      record: { name: 'New', description: '', devices: [id('dev', 7)] },
      now: 1,
    })
    if (!made.ok) throw new Error(made.refusal)
    await updateGroup(db, {
      accountId: own,
      before: made.group,
      record: { name: 'Newer', description: '', devices: [id('dev', 8)] },
      now: 2,
    })
    await deleteGroup(db, { accountId: own, id: made.group.id, versions: [2] })
    expect(await findGroup(db, own, made.group.id)).toBeNull()
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

  test('a page of a list or a search reads a page of rows', async () => {
    const reads = async (list: (db: ReturnType<typeof recorded>['db']) => Promise<unknown>) => {
      const { db, statements } = recorded()
      await list(db)
      const again = statements.map(({ sql, values }) => env.DB.prepare(sql).bind(...values))
      return (await env.DB.batch(again)).reduce((sum, { meta }) => sum + meta.rows_read, 0)
    }
    const own = account.id
    const page = { accountId: own, after: null, limit: 100 }
    expect(
      await reads((db) => listUsers(db, { ...page, after: ['id', '', id('usr', 5000)] })),
    ).toBeLessThan(300)
    expect(await reads((db) => searchUsers(db, 'user', page))).toBeLessThan(300)
    // Every e-mail begins like every name: the rows are passed over a page at a time.
    expect(
      await reads((db) => searchUsers(db, 'user', { ...page, after: ['email', '', ''] })),
    ).toBeLessThan(300)
    // Ten groups of twenty devices, each device searched by its key.
    expect(
      await reads((db) =>
        listGroups(db, { accountId: own, after: id('grp', 500), q: undefined, limit: 10 }),
      ),
    ).toBeLessThan(700)
    const confined = { accountId: own, groupId: id('grp', 3) }
    const listing = { sort: 'name', after: null, limit: 10 } as const
    expect(await reads((db) => listDevices(db, confined, listing, 1))).toBeLessThan(300)
  })

  test.each([
    ['name', ['tern 25000', 25_000], /SEARCH d USING INDEX devices_name \(account_id=\? AND/],
    ['-name', ['tern 25000', 25_000], /SEARCH d USING INDEX devices_name \(account_id=\? AND/],
    ['creation', [25_000, 25_000], /SEARCH d USING INDEX devices_creation \(account_id=\? AND/],
    ['-creation', [25_000, 25_000], /SEARCH d USING INDEX devices_creation \(account_id=\? AND/],
  ] as const)(
    'a page of devices by %s seeks to its cursor in an index',
    async (sort, after, seek) => {
      const { db, statements } = recorded()
      for (const filter of [{}, { state: 'active' }, { q: 'tern' }] as const) {
        const listing = { ...filter, sort, after: [...after], limit: 10 }
        const page = await listDevices(db, { accountId: account.id, groupId: null }, listing, 1)
        expect(page.devices).toHaveLength(10)
      }
      const pages = statements.filter(({ sql }) => sql.includes('last_location'))
      expect(pages).toHaveLength(3)
      for (const { sql, values } of pages) {
        const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .bind(...values)
          .all<{ detail: string }>()
        const steps = results.map(({ detail }) => detail).filter((step) => !/^SCAN d$/.test(step))
        expect(steps.filter(isScan)).toEqual([])
        expect(steps.join('\n')).toMatch(seek)
      }
    },
  )

  test('adding or removing one of 5,000 devices writes one membership', async () => {
    const large = await findGroup(recorded().db, account.id, id('grp', 0))
    if (!large) throw new Error('no group')
    expect(large.devices).toHaveLength(LARGE)
    const { devices, description, name } = large
    const more = recorded()
    const added = await updateGroup(more.db, {
      accountId: account.id,
      before: large,
      record: { name, description, devices: [...devices, id('dev', 40_000)] },
      now: 1,
    })
    if (!added.ok) throw new Error(added.refusal)
    expect(added.group.devices).toHaveLength(LARGE + 1)
    // A membership and its two indexes, and the group's version.
    expect(more.written()).toBeLessThanOrEqual(5)
    const less = recorded()
    const removed = await updateGroup(less.db, {
      accountId: account.id,
      before: added.group,
      record: { name, description, devices: devices.slice(1) },
      now: 2,
    })
    if (!removed.ok) throw new Error(removed.refusal)
    expect(removed.group.devices).toHaveLength(LARGE - 1)
    expect(less.written()).toBeLessThanOrEqual(9)
  })

  test('pages of groups with many devices are shorter, and list each group once and complete', async () => {
    const { db } = recorded()
    await env.DB.prepare(
      `INSERT INTO group_devices (group_id, device_key, account_id)
       SELECT g.id, m.device_key, ?1 FROM groups g CROSS JOIN group_devices m WHERE g.account_id = ?1 AND g.id BETWEEN ?2 AND ?3 AND m.group_id = ?4 ON CONFLICT DO NOTHING`,
    )
      .bind(account.id, id('grp', 10), id('grp', 16), id('grp', 0))
      .run()
    const sizes: number[] = []
    const pages: number[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page: Awaited<ReturnType<typeof listGroups>> = await listGroups(db, {
        accountId: account.id,
        after,
        q: undefined,
        limit: 1000,
      })
      sizes.push(...page.groups.map(({ devices }) => devices.length))
      pages.push(page.groups.length)
      after = page.next
    }
    expect(sizes).toHaveLength(GROUPS)
    expect(sizes.slice(10, 17)).toEqual(Array(7).fill(LARGE - 1))
    expect(pages.length).toBeGreaterThan(2)
    expect(pages.every((length) => length > 0)).toBe(true)
  })
})
