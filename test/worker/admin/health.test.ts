import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { SCHEMA_VERSION } from '../../../src/db/version.ts'
import { applyEffects } from '../../../src/ledger/outbox/projection/applyEffects.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount } from '../../support/accounts.ts'
import { callWithBindings, failStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { passTime } from '../../support/feed/feed.ts'
import {
  openAccountWithReceiver,
  runNextAttempt,
  waitForDelivery,
} from '../../support/feed/webhooks.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { eventually } from '../../support/time.ts'

const MINUTE_MS = 60_000
const { CELL_1 } = env as unknown as { CELL_1: D1Database }

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const laterBy = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

const readHealth = async (bindings: object = {}) => {
  const token = env.ADMIN_TOKEN ?? ''
  const reply = await callWithBindings(bindings, 'GET', '/admin/health', { token })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
const cellOf = async (cell: number, bindings: object = {}) =>
  (await readHealth(bindings)).cells.find((one: { cell: number }) => one.cell === cell)

const readMetrics = async () => (await callAsOperator('GET', '/admin/metrics')).text

test('the health check says whether the last sweep was on time', async () => {
  await env.DB.prepare('DELETE FROM sweep_runs').run()
  const check = async () => (await call('GET', '/healthz')).body
  expect(await check()).toMatchObject({ status: 'degraded', lastSweep: null, sweepOnTime: false })
  await sweep(env, Date.now())
  laterBy(6000)
  expect(await check()).toMatchObject({ status: 'ok', sweepOnTime: true })
  laterBy(3 * MINUTE_MS)
  expect(await check()).toMatchObject({ status: 'degraded', sweepOnTime: false })
})

test('each cell is shown with its size, schema, accounts and the parts of the sweep', async () => {
  await openAccount({ cell: 1 })
  await sweep(env, Date.now())
  const health = await readHealth()
  expect(health).toMatchObject({
    success: true,
    status: 'ok',
    schema: { expected: SCHEMA_VERSION, ledger: expect.any(Number) },
  })
  expect(health.cells).toHaveLength(2)
  for (const cell of health.cells) {
    expect(cell).toMatchObject({ reachable: true, schema: SCHEMA_VERSION, problems: [] })
    expect(cell.share).toBeCloseTo(cell.sizeBytes / 10_000_000_000, 12)
    const parts = cell.sweepParts.map(({ part }: { part: string }) => part)
    expect(parts).toEqual(expect.arrayContaining(['pending-raises', 'watches', 'erasures']))
  }
  expect(health.cells[1].accounts).toBeGreaterThan(0)
})

test('a cell that does not answer is reported, and the others are shown', async () => {
  await sweep(env, Date.now())
  const health = await readHealth({ CELL_1: failStatements(CELL_1, /./) })
  expect(health.status).toBe('degraded')
  expect(health.cells).toMatchObject([
    { reachable: true, problems: [] },
    { reachable: false, sizeBytes: null, problems: ['cell-unreachable'] },
  ])
})

test('a part of the sweep that fails keeps the time of its last success', async () => {
  await sweep(env, Date.now())
  const before = await cellOf(1)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  laterBy(16 * MINUTE_MS)
  await sweep(
    { ...env, CELL_1: failStatements(CELL_1, /pending_raises/) } as typeof env,
    Date.now(),
  )
  const after = await cellOf(1)
  const timeOf = (cell: typeof before, name: string) =>
    cell.sweepParts.find(({ part }: { part: string }) => part === name).at
  expect(timeOf(after, 'pending-raises')).toBe(timeOf(before, 'pending-raises'))
  expect(timeOf(after, 'erasures') > timeOf(before, 'erasures')).toBe(true)
  expect(after.problems).toEqual(['sweep-part-late'])
})

test('a part of the sweep that has never succeeded is late, until it does', async () => {
  await CELL_1.prepare('DELETE FROM sweep_runs').run()
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const failing = { ...env, CELL_1: failStatements(CELL_1, /pending_raises/) } as typeof env
  for (const expected of [null, null, expect.any(String)]) {
    await sweep(expected === null ? failing : env, Date.now())
    const { sweepParts, problems } = await cellOf(1)
    expect(sweepParts).toContainEqual({ part: 'pending-raises', at: expected })
    expect(sweepParts).toContainEqual({ part: 'erasures', at: expect.any(String) })
    expect(problems).toEqual(expected === null ? ['sweep-part-late'] : [])
  }
})

test('the parts of the sweep that are of the whole service are shown with cell 0', async () => {
  await sweep(env, Date.now())
  const shown = (await cellOf(0)).sweepParts.map(({ part }: { part: string }) => part)
  expect(shown).toEqual(expect.arrayContaining(['abandoned-accounts', 'push-keys', 'watches']))
})

test('the oldest unsent message, emergency and pending alert are found', async () => {
  const account = await openAccount({ cell: 1 })
  const deviceId = await createDevice(account)
  await sweep(env, Date.now())
  const key = (await CELL_1.prepare('SELECT key FROM devices WHERE id = ?')
    .bind(deviceId)
    .first<number>('key')) as number
  const now = Date.now()
  const ago = (minutes: number) => now - minutes * MINUTE_MS
  const addAlert = (id: string, emergency: number) =>
    CELL_1.prepare(
      `INSERT INTO alerts (id, account_id, device_key, time, name, text, messages, emergency)
        VALUES (?, ?, ?, ?, 'SOSButton', '', 1, ?)`,
    ).bind(`alr_${id}`, account.id, key, now, emergency)
  const addMessage = (id: string, status: string, changed: number) =>
    CELL_1.prepare(
      `INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status,
        attempts, changed, seq) VALUES (?, ?, ?, 'Email', 'a@example.com', '', '', ?, 0, ?, 1)`,
    ).bind(account.id, `msg_${id}0000`, key, status, changed)
  await CELL_1.batch([
    addAlert('healthx1', 0),
    addAlert('healthx2', 1),
    addAlert('healthx3', 1),
    addMessage('healthx1', 'queued', ago(20)),
    addMessage('healthx2', 'queued', ago(3)),
    addMessage('healthx3', 'sent', ago(90)),
    CELL_1.prepare('INSERT INTO pending_raises VALUES (?, ?, ?, ?)').bind(
      account.id,
      'alr_pending',
      ago(4),
      '{}',
    ),
  ])
  const oldest = (minutes: number) => ({
    since: new Date(ago(minutes)).toISOString(),
    accountId: account.id,
  })
  expect(await cellOf(1)).toMatchObject({
    oldestUnsentMessage: oldest(20),
    oldestUnsentEmergency: oldest(3),
    oldestPendingAlert: oldest(4),
    problems: ['alert-pending', 'emergency-unsent', 'message-unsent'],
  })
  const figures = await readMetrics()
  expect(figures).toMatch(/^perigee_oldest_unsent_emergency_age_seconds\{cell="1"\} 18\d/m)
  expect(figures).toMatch(/^perigee_oldest_unsent_emergency_age_seconds\{cell="0"\} 0$/m)
  // A deleted account sends nothing.
  await CELL_1.prepare('UPDATE accounts SET deleted_at = ? WHERE id = ?')
    .bind(now, account.id)
    .run()
  expect(await cellOf(1)).toMatchObject({
    oldestUnsentMessage: null,
    oldestUnsentEmergency: null,
    oldestPendingAlert: null,
    problems: [],
  })
})

test('a failed attempt changes the reason and not since when a message waits', async () => {
  const account = await openAccount({ cell: 1 })
  const state = (status: 'queued' | 'sent', reason: string | null, at: number, seq: number) => ({
    kind: 'message-state' as const,
    ...{ id: 'msg_waiting0000', status, reason, provider: 'resend', attempts: seq, at, seq },
  })
  await CELL_1.prepare(
    `INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status,
      attempts, changed, seq) VALUES (?, 'msg_waiting0000', 0, 'Email', '', '', '', 'queued', 0, 100, 1)`,
  )
    .bind(account.id)
    .run()
  const changedAfter = async (effect: ReturnType<typeof state>) => {
    await applyEffects(openCell(env, 1), account.id, [effect], Date.now())
    return CELL_1.prepare(`SELECT changed FROM messages WHERE id = 'msg_waiting0000'`).first(
      'changed',
    )
  }
  expect(await changedAfter(state('queued', 'resend-500', 200, 2))).toBe(100)
  expect(await changedAfter(state('sent', null, 300, 3))).toBe(300)
})

test('an outbox that is stuck is reported by its ledger, until it is drained', async () => {
  const account = await openAccount({ cell: 1 })
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const since = Date.now() - 6 * MINUTE_MS
  const ledger = ledgerStub(account)
  await runInDurableObject(ledger, async (_, { storage }) => {
    storage.sql.exec(`INSERT INTO outbox (effect, at) VALUES ('{"kind":"unknown"}', ?)`, since)
    await storage.setAlarm(Date.now())
  })
  await runDurableObjectAlarm(ledger)
  await eventually(async () =>
    expect(await cellOf(1)).toMatchObject({
      oldestOutboxEntry: { since: new Date(since).toISOString(), accountId: account.id },
      problems: expect.arrayContaining(['outbox-behind']),
    }),
  )
  await runInDurableObject(ledger, (_, { storage }) => storage.sql.exec('DELETE FROM outbox'))
  await createDevice(account)
  await eventually(async () => expect((await cellOf(1)).oldestOutboxEntry).toBeNull())
})

test('a webhook that has failed for five minutes is reported by its feed, until it succeeds', async () => {
  const { account, id } = await openAccountWithReceiver('after-2')
  await waitForDelivery(account, id, { status: 'pending', attempts: 1 })
  expect((await cellOf(0)).webhooksBehind).toBeNull()
  await passTime(account, 6 * MINUTE_MS)
  await eventually(async () =>
    expect((await cellOf(0)).webhooksBehind).toMatchObject({ count: 1, accountId: account.id }),
  )
  expect(await readMetrics()).toMatch(/^perigee_webhooks_behind\{cell="0"\} 1$/m)
  await waitForDelivery(account, id, { status: 'pending', attempts: 2 })
  await runNextAttempt(account, id, { status: 'delivered' })
  await passTime(account, 5 * MINUTE_MS)
  await eventually(async () => expect((await cellOf(0)).webhooksBehind).toBeNull())
})

test('the figures are in the text format of Prometheus, and those of an isolate name it', async () => {
  await sweep(env, Date.now())
  await call('GET', '/healthz')
  const reply = await callAsOperator('GET', '/admin/metrics')
  expect(reply.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = reply.text.trimEnd().split('\n')
  const label = '[a-z_]+="(?:[^"\\\\\\n]|\\\\.)*"'
  const sample = new RegExp(`^[a-z_]+\\{${label}(,${label})*\\} -?[\\d.e+-]+$`)
  const types = new Map<string, string>()
  for (const line of lines) {
    const type = /^# TYPE (\S+) (gauge|counter|histogram)$/.exec(line)
    if (type) types.set(type[1] ?? '', type[2] ?? '')
    else if (!line.startsWith('# HELP ')) expect(line).toMatch(sample)
  }
  for (const line of lines.filter((one) => !one.startsWith('#'))) {
    const name = (line.split('{')[0] ?? '').replace(/_(bucket|sum|count)$/, '')
    const isOfIsolate = line.includes('isolate="')
    if (types.get(name) !== 'gauge') expect(isOfIsolate, line).toBe(true)
  }
  expect(reply.text).toMatch(/^perigee_requests_total\{.*route="\/healthz",status="200"\} [1-9]/m)
  expect(reply.text).toMatch(/^perigee_request_duration_seconds_bucket\{.*le="\+Inf"\} [1-9]/m)
  const json = await callAsOperator('GET', '/admin/metrics?format=json')
  const names = json.body.metrics.map(({ name }: { name: string }) => name)
  expect(names).toEqual([...types.keys()])
})

test('a request is a data point of Analytics Engine where that is bound, and a failure is ignored', async () => {
  const account = await openAccount()
  const points: AnalyticsEngineDataPoint[] = []
  const read = (writeDataPoint: AnalyticsEngineDataset['writeDataPoint']) =>
    callWithBindings({ METRICS: { writeDataPoint } }, 'GET', '/api/devices', {
      token: account.token,
    })
  expect((await read((point) => void points.push(point ?? {}))).status).toBe(200)
  expect(points).toEqual([
    {
      indexes: [account.id],
      blobs: ['GET', '/api/devices', '200'],
      doubles: [expect.any(Number)],
    },
  ])
  const failed = await read(() => {
    throw new Error('too many data points')
  })
  expect(failed.status).toBe(200)
})

test('neither is shown without the operator’s token', async () => {
  const account = await openAccount()
  for (const path of ['/admin/health', '/admin/metrics']) {
    expect((await call('GET', path)).status).toBe(401)
    expect((await account.call('GET', path)).status).toBe(401)
  }
})
