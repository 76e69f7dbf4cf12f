import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { app } from '../../../src/app.ts'
import { isPaged } from '../../../src/http/contract/contract.ts'
import { ORIGIN, readReply, requestOf } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'
import { routes } from '../everyRoute/routes.ts'
import { type LargeAccount, openLargeAccount } from './largeAccount.ts'
import { recordCell, rowsReadBy } from './recordedCell.ts'

let account: LargeAccount
const id = (prefix: string, n: number) => account.nth(prefix, n)

/** Confined to the group with 10,000 devices, and to one with twenty. */
let confined: { full: string; small: string }

beforeAll(async () => {
  account = await openLargeAccount()
  const tokenFor = async (group: string) => (await createBoundUser(account, { group })).token
  confined = { full: await tokenFor(account.fullGroup), small: await tokenFor(id('grp', 5)) }
  await env.DB.prepare(
    `INSERT INTO operators (id, name, role, creation, last_modified, version)
      SELECT 'opr_' || value, 'Ana', 'support', 0, 0, 1 FROM json_each(?)`,
  )
    .bind(JSON.stringify(Array.from({ length: 100 }, (_, index) => 100 + index)))
    .run()
}, 120_000)

/** Requests a page of ten rows and counts the rows that the cell reads for it. */
const readPage = async (path: string, token: string) => {
  const { DB, statements } = recordCell()
  const ctx = createExecutionContext()
  const url = `${ORIGIN}${path}${path.includes('?') ? '&' : '?'}limit=10`
  const response = await app.fetch(
    new Request(url, requestOf('GET', { token })),
    { ...env, DB },
    ctx,
  )
  const { status, body, text } = await readReply(response)
  await waitOnExecutionContext(ctx)
  if (status !== 200) throw new Error(`${path}: ${text}`)
  const rows = Object.values(body).find((member) => Array.isArray(member)) as unknown[]
  const { nextCursor } = body as { nextCursor: string | null }
  return { rows: rows.length, read: await rowsReadBy(statements), nextCursor }
}

/** The most rows that one of the first two pages reads, and the rows that they list. */
const readTwoPages = async (path: string, token: string) => {
  const first = await readPage(path, token)
  if (first.nextCursor === null) return first
  const cursor = `${path.includes('?') ? '&' : '?'}cursor=${first.nextCursor}`
  const second = await readPage(`${path}${cursor}`, token)
  return { rows: first.rows + second.rows, read: Math.max(first.read, second.read) }
}

/** About a page: up to thirty rows for each one listed. */
const PAGE = 300
/** A filter that many rows match: a short scan fills the page. */
const SHORT_SCAN = 5000
/** A filter that hardly any row matches: the scan ends at 5000 rows, each with its device. */
const LONG_SCAN = 25_000

type Bounds = Record<string, number>

/** Most rows read for a page of each list, by its query. */
const LISTS: Record<string, () => Bounds> = {
  listDevices: () => {
    const group = `group=${account.fullGroup}`
    return {
      ...Object.fromEntries(
        ['name', '-name', 'creation', '-creation'].flatMap((sort) => [
          [`/api/devices?sort=${sort}`, PAGE],
          [`/api/devices?sort=${sort}&${group}`, PAGE],
          [`/api/devices?sort=${sort}&q=tern`, SHORT_SCAN],
          [`/api/devices?sort=${sort}&q=tern&${group}`, SHORT_SCAN],
          [`/api/devices?sort=${sort}&state=active`, SHORT_SCAN],
          [`/api/devices?sort=${sort}&state=active&${group}`, SHORT_SCAN],
        ]),
      ),
      '/api/devices?q=tern 1234': SHORT_SCAN,
      '/api/devices?q=IMEI77': SHORT_SCAN,
      '/api/devices?state=expired': LONG_SCAN,
      [`/api/devices?state=expired&${group}`]: LONG_SCAN,
      [`/api/devices?q=nothing&${group}`]: LONG_SCAN,
      '/api/devices?identifier=imei77': PAGE,
      [`/api/devices?identifier=imei75&${group}`]: PAGE,
      [`/api/devices?ids=${[1, 5, 10].map((n) => id('dev', n))}`]: PAGE,
      [`/api/devices?ids=${[1, 5, 10].map((n) => id('dev', n))}&${group}&state=active`]: PAGE,
    }
  },
  listEvents: () => {
    const some = Array.from({ length: 100 }, (_, n) => id('dev', n))
    return {
      '/api/events': PAGE,
      '/api/events?after=20000': PAGE,
      '/api/events?types=location.*': SHORT_SCAN,
      '/api/events?types=alert.raised': LONG_SCAN,
      [`/api/events?devices=${id('dev', 9)}`]: PAGE,
      [`/api/events?devices=${id('dev', 500)}&after=15000`]: PAGE,
      [`/api/events?devices=${id('dev', 999)}&types=alert.raised`]: SHORT_SCAN,
      [`/api/events?devices=${id('dev', 500)}&types=alert.raised`]: LONG_SCAN,
      [`/api/events?devices=${some}`]: SHORT_SCAN,
      [`/api/events?groups=${account.fullGroup}`]: SHORT_SCAN,
      [`/api/events?groups=${id('grp', 900)}`]: LONG_SCAN,
      [`/api/events?groups=${id('grp', 900)}&devices=${id('dev', 9)}`]: LONG_SCAN,
    }
  },
  listAlerts: () => ({
    '/api/alerts': PAGE,
    '/api/alerts?sort=dateTime': PAGE,
    '/api/alerts?alertName=SOSButton': PAGE,
  }),
  listDeviceAlerts: () => ({
    [`/api/devices/${id('dev', 600)}/alerts`]: PAGE,
    [`/api/devices/${id('dev', 600)}/alerts?alertName=SOSButton`]: LONG_SCAN,
  }),
  listMessages: () => ({
    '/api/account/messages': PAGE,
    '/api/account/messages?status=sent&channel=Email': SHORT_SCAN,
    '/api/account/messages?status=failed': LONG_SCAN,
    [`/api/account/messages?deviceId=${id('dev', 9)}`]: LONG_SCAN,
    [`/api/account/messages?alertId=${id('alr', 9)}`]: PAGE,
  }),
  listLocations: () => ({
    [`/api/devices/${id('dev', 1)}/locations?from=1970-01-01T00:00:05Z&to=2026-01-01T00:00:00Z`]:
      PAGE,
  }),
  listUsers: () => ({ '/api/users': PAGE, '/api/users?q=user': PAGE, '/api/users?q=user 9': PAGE }),
  // A page has the ids of all its groups' devices, which are read one by one.
  listGroups: () => ({
    '/api/groups': 100_000,
    '/api/groups?q=fleet 9': 1000,
    '/api/groups?q=fleet': 100_000,
    '/api/groups?q=all': 3 * 10_100,
  }),
  listKeys: () => ({ '/api/account/keys': SHORT_SCAN }),
  listWebhooks: () => ({ '/api/webhooks': PAGE }),
  listSources: () => ({ '/api/sources': PAGE }),
  // The reports of each identifier, at most a hundred, are counted and searched for a location.
  listUnclaimed: () => ({ [`/api/sources/${id('src', 0)}/unclaimed`]: 2500 }),
  listFailures: () => ({ [`/api/sources/${id('src', 0)}/failures`]: PAGE }),
  listQuarantine: () => ({ [`/api/devices/${id('dev', 0)}/quarantine`]: PAGE }),
  listCommands: () => ({ [`/api/devices/${id('dev', 0)}/commands`]: PAGE }),
  listAccounts: () => ({
    '/admin/accounts': PAGE,
    '/admin/accounts?q=nobody': LONG_SCAN,
  }),
  listOperators: () => ({ '/admin/operators': PAGE }),
  listAudit: () => ({ '/api/account/audit': PAGE }),
  listAllAudit: () => ({ '/admin/audit': PAGE }),
  listUsage: () => ({ '/admin/usage?month=2025-01': LONG_SCAN }),
}

/** Their rows are in the ledger or the feed. */
const NOT_IN_D1 = ['readLicenseLog', 'listDeliveries']
/** Few rows, whose number the service bounds: each list is a range of an index. */
const BOUNDED = ['listZones', 'listRules', 'listWatches', 'listShares']

describe('a page of ten', () => {
  test('is bounded below for every list of the API', () => {
    const lists = routes.filter(({ method, contract }) => method === 'GET' && isPaged(contract))
    expect(lists.map(({ id: list }) => list).sort()).toEqual(
      [...Object.keys(LISTS), ...NOT_IN_D1, ...BOUNDED].sort(),
    )
  })

  test.each(Object.keys(LISTS))('of %s reads a bounded number of rows', async (list) => {
    for (const [path, bound] of Object.entries(LISTS[list]?.() ?? {})) {
      const token = path.startsWith('/admin') ? (env.ADMIN_TOKEN ?? '') : account.token
      const page = await readTwoPages(path, token)
      expect(page.read, path).toBeLessThanOrEqual(bound)
      // Only a filter that matches nearly nothing leaves a page empty.
      if (bound < LONG_SCAN) expect(page.rows, path).toBeGreaterThan(0)
    }
  })

  test.each(['listDevices', 'listEvents', 'listAlerts', 'listMessages', 'listGroups'])(
    'of %s reads a bounded number of rows for a confined user',
    async (list) => {
      for (const [path, bound] of Object.entries(LISTS[list]?.() ?? {})) {
        const isOfOther = (group: string) => path.includes('group=') && !path.includes(group)
        // In other lists the devices of a small group may be rare.
        const most = list === 'listDevices' ? bound : Math.max(bound, LONG_SCAN)
        if (!isOfOther(account.fullGroup))
          expect((await readTwoPages(path, confined.full)).read, path).toBeLessThanOrEqual(most)
        if (!path.includes('group='))
          expect((await readTwoPages(path, confined.small)).read, path).toBeLessThanOrEqual(most)
      }
    },
  )

  test.each(['name', '-name', 'creation', '-creation'])(
    'by %s reads no more for a confined user or in the middle of a group',
    async (sort) => {
      const path = `/api/devices?sort=${sort}`
      const { read, rows } = await readPage(path, confined.full)
      expect([rows, read <= PAGE]).toEqual([10, true])
      const inGroup = `${path}&group=${account.fullGroup}`
      const { nextCursor } = (await account.call('GET', `${inGroup}&limit=900`)).body
      const later = await readPage(`${inGroup}&cursor=${nextCursor}`, account.token)
      expect([later.rows, later.read <= PAGE]).toEqual([10, true])
    },
  )
})
