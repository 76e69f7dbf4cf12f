import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { joinArchives } from '../../../scripts/import/joinArchives.ts'
import { exportTracks } from '../../../src/archive/exportTracks.ts'
import { openCell } from '../../../src/db/open.ts'
import type { TestAccount } from '../../support/accounts.ts'
import {
  eraseCompletely,
  exportAs,
  filesOf,
  importArchive,
  packFiles,
  textOf,
} from '../../support/db/archive.ts'
import { iso } from '../../support/time.ts'
import { hourly, MINUTE, monthsAgo, moveAll, OLD, openFleet, reportAll } from '../history/fleet.ts'

/* Exports of a span, and of months that are in the bucket. */

const exportSpan = async ({ token }: TestAccount, query = {}) =>
  filesOf(await exportAs(token, `/api/account/export?${new URLSearchParams(query)}`))

const tracksOf = (files: Awaited<ReturnType<typeof filesOf>>) =>
  textOf(files, 'tracks-00001.geojson')

test('months in the bucket are exported as before they moved, and imported elsewhere', async () => {
  const { account, devices } = await openFleet([...hourly(OLD), ...hourly(monthsAgo(5))])
  const before = tracksOf(await exportSpan(account))
  expect(JSON.parse(before).features).toHaveLength(162)
  await moveAll(account)
  expect(tracksOf(await exportSpan(account))).toBe(before)
  // Reports of a moved month that came later stay in the cell.
  await reportAll(account, devices[1] as string, [OLD + 90 * MINUTE, OLD + 91 * MINUTE])
  const files = await exportSpan(account)
  expect(JSON.parse(tracksOf(files)).features).toHaveLength(164)
  await eraseCompletely(account)
  const { status, text } = await importArchive(await packFiles(files), { cell: '1' })
  expect(status, text).toBe(201)
  const again = await filesOf(
    await exportAs(env.ADMIN_TOKEN ?? '', `/admin/accounts/${account.id}/export`),
  )
  expect(tracksOf(again)).toBe(tracksOf(files))
})

test('archives of several spans are imported together', async () => {
  const { account } = await openFleet([...hourly(OLD), ...hourly(monthsAgo(2))])
  await moveAll(account)
  const whole = await exportSpan(account)
  const middle = monthsAgo(3)
  const first = await exportSpan(account, { to: iso(middle) })
  const second = await exportSpan(account, { from: iso(middle + 1) })
  expect(JSON.parse(tracksOf(first)).features).toHaveLength(80)
  expect(JSON.parse(tracksOf(second)).features).toHaveLength(82)
  const sourceOf = (files: typeof first) =>
    async function* () {
      yield* files
    }
  const joined = await Array.fromAsync(joinArchives([sourceOf(first), sourceOf(second)]))
  await eraseCompletely(account)
  const { status, text } = await importArchive(await packFiles(joined), { cell: '1' })
  expect(status, text).toBe(201)
  const path = `/admin/accounts/${account.id}/export`
  const again = await filesOf(await exportAs(env.ADMIN_TOKEN ?? '', path))
  expect(tracksOf(again)).toBe(tracksOf(whole))
})

test('more than an archive can have is refused before it begins', async () => {
  const { account } = await openFleet([OLD])
  const addMonth = (month: string, locations: number) =>
    env.DB.prepare(
      'INSERT INTO archived_months (account_id, month, object, locations, bytes, creation) VALUES (?, ?, ?, ?, 1, 0)',
    )
      .bind(account.id, month, `missing/${month}`, locations)
      .run()
  await addMonth('2020-01', 2_000_001)
  const expectRefused = async (query: string, detail: string) => {
    const reply = await account.call('POST', `/api/account/export${query}`)
    expect(reply.body.code, reply.text).toBe('span-too-large')
    expect(reply.body.detail).toContain(detail)
  }
  await expectRefused('', '2,000,000 locations')
  for (let month = 10; month < 23; month++) await addMonth(`20${month}-02`, 1)
  await expectRefused('?from=2010-01-01T00:00:00Z', 'months of old locations')
  await expectRefused('?from=2011-01-01T00:00:00Z&to=2020-01-31T00:00:00Z', '2,000,000 locations')
  const out = await account.call('POST', '/api/account/export?from=2021-01-01&to=2020-01-01')
  expect(out.status).toBe(400)
  const { body } = await account.call('GET', '/api/account/audit?action=account.exported')
  expect(body.entries).toEqual([])
  const recent = await exportSpan(account, { from: '2025-01-01T00:00:00Z' })
  expect(JSON.parse(tracksOf(recent)).features).toHaveLength(4)
})

describe('an export meanwhile', () => {
  const change = (text: string, ...values: unknown[]) =>
    env.DB.prepare(text)
      .bind(...values)
      .run()
  const CHANGES = {
    'a month goes to the bucket': ({ id }: TestAccount) =>
      change(
        `INSERT INTO archived_months (account_id, month, object, locations, bytes, creation)
          VALUES (?, '2026-01', 'new', 1, 1, 0)`,
        id,
      ),
    'the account leaves the cell': ({ id }: TestAccount) =>
      change(`INSERT INTO moved_accounts VALUES (?, 999999, 1, 'moved', 0, '', 1)`, id),
    'a device comes back': async (account: TestAccount, device: string) =>
      account.call('POST', `/api/devices/${device}/restore`),
  }

  test.for(Object.keys(CHANGES) as (keyof typeof CHANGES)[])('%s has no end', async (name) => {
    const { account, devices } = await openFleet([])
    const [device] = devices as [string]
    await account.call('DELETE', `/api/devices/${device}`)
    await exportSpan(account)
    const disturb = async () => void (await CHANGES[name](account, device))
    await expect(exportAs(account.token, '/api/account/export', disturb)).rejects.toThrow()
    await change('DELETE FROM moved_accounts WHERE account_id = ?', account.id)
  })

  test('of a deleted device has all locations of the others', async () => {
    const { account, devices } = await openFleet(hourly(monthsAgo(2)))
    const { results } = await env.DB.prepare(
      'SELECT key FROM devices WHERE account_id = ? ORDER BY 1',
    )
      .bind(account.id)
      .all<{ key: number }>()
    const keys = results.map(({ key }) => key) as [number, number]
    const span = { from: 0, to: Date.now(), keptSince: 0 }
    const of = { db: openCell(env, 0), accountId: account.id, keys, ...span }
    const pages = exportTracks(of, [], async (_, read) => {
      const page = await read()
      // Locations are read first, and then the devices.
      await change('DELETE FROM devices WHERE key = ?', keys[0])
      return page
    })
    const lines = (await Array.fromAsync(pages)).flat().map((line) => JSON.parse(line))
    expect(lines).toHaveLength(41)
    for (const { properties } of lines) expect(properties.deviceId).toBe(devices[1])
  })
})
