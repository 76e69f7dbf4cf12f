import { expect, test } from 'vitest'
import {
  fetchTokenWithScopes,
  openAccount,
  openSandbox,
  type TestAccount,
} from '../support/accounts.ts'
import { call } from '../support/http.ts'

const HEADERS = { Accept: 'application/json, text/event-stream' }

const send = (token: string, body: unknown, headers: Record<string, string> = {}) =>
  call('POST', '/mcp', { token, body, headers: { ...HEADERS, ...headers } })

const ask = async (token: string, method: string, params: object = {}) => {
  const reply = await send(token, { jsonrpc: '2.0', id: 1, method, params })
  expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, expect.anything()])
  return reply.body
}

const namesFor = async (token: string): Promise<string[]> =>
  (await ask(token, 'tools/list')).result.tools.map(({ name }: { name: string }) => name)

/** The text of the result, its first line and the JSON after it. */
const run = async (token: string, name: string, given: object = {}) => {
  const { result } = await ask(token, 'tools/call', { name, arguments: given })
  const text: string = result.content[0].text
  const [summary = '', json] = text.split('\n', 2)
  return { isError: result.isError ?? false, text, summary, data: json ? JSON.parse(json) : null }
}

const createDevice = async (account: TestAccount, name: string, more: object = {}) =>
  (await account.call('POST', '/api/devices', { body: { name, ...more } })).body.device

const READING = [
  'find_devices',
  'where_is',
  'track_summary',
  'list_trips',
  'list_alerts',
  'license_status',
  'read_usage',
  'recent_events',
]

test('a handshake of 2025 names the server and its tools', async () => {
  const { token } = await openAccount()
  const { result } = await ask(token, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  expect(result).toMatchObject({
    protocolVersion: '2025-06-18',
    serverInfo: { name: 'perigee' },
    capabilities: { tools: {} },
  })
  const notified = await send(token, { jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([notified.status, notified.text]).toEqual([202, ''])
})

test('the revision without a handshake is served too', async () => {
  const { token } = await openAccount()
  const version = '2026-07-28'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const message = (method: string, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, _meta: meta },
  })
  const headersOf = (method: string) => ({ 'MCP-Protocol-Version': version, 'Mcp-Method': method })
  const found = await send(token, message('server/discover'), headersOf('server/discover'))
  expect(found.body.result.supportedVersions).toEqual([version])
  const list = await send(token, message('tools/list'), headersOf('tools/list'))
  expect(list.body.result.tools).toHaveLength(13)
  const called = message('tools/call', { name: 'license_status', arguments: {} })
  const withName = { ...headersOf('tools/call'), 'Mcp-Name': 'license_status' }
  expect((await send(token, called, withName)).body.result.content[0].text).toContain('0 of 10')
  for (const wrong of [headersOf('tools/call'), { ...withName, 'Mcp-Name': 'where_is' }]) {
    const refused = await send(token, called, wrong)
    expect([refused.status, refused.body.error.code, refused.body.id]).toEqual([400, -32020, 7])
  }
  const unknown = message('tools/list')
  unknown.params._meta = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
  const later = { ...headersOf('tools/list'), 'MCP-Protocol-Version': '2099-01-01' }
  const refused = await send(token, unknown, later)
  expect([refused.status, refused.body.error.code]).toEqual([400, -32022])
  // Nothing is pushed to agents: there are no streams to open.
  const listen = await send(
    token,
    message('subscriptions/listen', { notifications: {} }),
    headersOf('subscriptions/listen'),
  )
  expect(listen.body.error.code).toBe(-32601)
})

test('tools are listed by scope, and refused without it', async () => {
  const account = await openAccount()
  const reader = await fetchTokenWithScopes(account, ['read'])
  expect(await namesFor(reader)).toEqual(READING)
  const writer = await fetchTokenWithScopes(account, ['write'])
  expect(await namesFor(writer)).toEqual([
    ...READING,
    'acknowledge_alert',
    'reactivate_device',
    'set_device_limits',
    'create_watch',
  ])
  expect(await namesFor(await fetchTokenWithScopes(account, ['execute']))).toEqual(['send_command'])
  const { id } = await createDevice(account, 'Tern')
  const limits = { device: id, dailySmsLimit: 0 }
  const refused = await run(reader, 'set_device_limits', limits)
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('scope write')])
  const { device } = (await account.call('GET', `/api/devices/${id}`)).body
  expect(device.limits.dailySmsLimit).toBe(20)
  const ingest = await fetchTokenWithScopes(account, ['ingest'])
  const closed = await send(ingest, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect([closed.status, closed.body.code]).toEqual([403, 'forbidden'])
})

test('tools that stop, cost or send something are announced as destructive', async () => {
  const { token } = await openAccount()
  const { tools } = (await ask(token, 'tools/list')).result
  type Tool = { name: string; annotations: { destructiveHint?: boolean } }
  const destructive = tools.filter(({ annotations }: Tool) => annotations.destructiveHint)
  expect(destructive.map(({ name }: Tool) => name).sort()).toEqual([
    'acknowledge_alert',
    'reactivate_device',
    'send_command',
    'set_device_limits',
  ])
})

test('devices are found by id, identifier and exact name', async () => {
  const account = await openAccount()
  const { token } = account
  const tern = await createDevice(account, 'Tern 7', { identifier: '300434000000001' })
  await createDevice(account, 'Tern 8')
  const dateTime = new Date(Date.now() - 600_000).toISOString()
  await account.call('POST', `/api/devices/${tern.id}/locations`, {
    body: { dateTime, latitude: 41.18, longitude: -8.7 },
  })
  for (const device of [tern.id, '300434000000001', 'tern 7']) {
    const { summary, data } = await run(token, 'where_is', { device })
    expect(summary).toMatch(/^“Tern 7” \(dev_.*\) was .* 10 minutes ago\.$/)
    expect(data).toMatchObject({ latitude: 41.18, longitude: -8.7, dateTime })
  }
  const unclear = await run(token, 'where_is', { device: 'tern' })
  expect([unclear.isError, unclear.text]).toEqual([true, expect.stringContaining(tern.id)])
  const found = await run(token, 'find_devices', { search: 'ern', limit: 1 })
  expect(found.data.rows).toMatchObject([{ id: tern.id, lastLocation: { latitude: 41.18 } }])
  const rest = await run(token, 'find_devices', {
    search: 'ern',
    limit: 1,
    cursor: found.data.nextCursor,
  })
  expect(rest.data.rows).toMatchObject([{ name: 'Tern 8', lastLocation: null }])
})

test('an identifier that is the name of another device stands for neither', async () => {
  const account = await openAccount()
  const tern = await createDevice(account, 'Tern 7')
  const other = await createDevice(account, 'Decoy', { identifier: 'Tern 7' })
  const found = await run(account.token, 'where_is', { device: 'Tern 7' })
  expect([found.isError, found.text]).toEqual([true, expect.stringContaining(tern.id)])
  expect(found.text).toContain(other.id)
})

test('of another account nothing is found or changed', async () => {
  const mine = await openAccount()
  const other = await openAccount()
  const device = await createDevice(other, 'Theirs')
  const raised = await other.call('POST', `/api/devices/${device.id}/alerts`, {
    body: { alertName: 'LowBattery' },
  })
  const { id: alertId } = raised.body.alert
  for (const [name, given] of [
    ['where_is', { device: device.id }],
    ['where_is', { device: 'Theirs' }],
    ['list_alerts', { device: device.id }],
    ['acknowledge_alert', { alertId }],
    ['reactivate_device', { device: device.id, expirationDate: null }],
    ['send_command', { device: device.id, command: 'STATUS' }],
    ['where_is', { device: `dev_0/../../account/keys` }],
  ] as const) {
    const { isError, text } = await run(mine.token, name, given)
    expect([name, isError, text.includes('Theirs')]).toEqual([name, true, false])
  }
  expect((await other.call('GET', `/api/alerts/${alertId}`)).body.alert.state).toBe('open')
})

test('tracks, trips, usage and events are read', async () => {
  const account = await openAccount()
  const { token } = account
  const { id } = await createDevice(account, 'Tern')
  const start = Date.now() - 3_600_000
  const locations = Array.from({ length: 20 }, (_, index) => ({
    dateTime: new Date(start + index * 60_000).toISOString(),
    latitude: 41 + index * 0.01,
    longitude: -8,
  }))
  await account.call('POST', `/api/devices/${id}/locations`, { body: { locations } })
  const summary = await run(token, 'track_summary', { device: id })
  expect(summary.summary).toContain('moved 21.1 km on 1 trips')
  const trips = await run(token, 'list_trips', { device: id })
  expect(trips.data.rows).toHaveLength(1)
  expect((await run(token, 'list_trips', { device: id, kind: 'stops' })).data.rows).toEqual([])
  expect((await run(token, 'read_usage')).data).toHaveProperty('licenseDays')
  const events = await run(token, 'recent_events', { types: 'device.*' })
  expect(events.data.rows.map(({ type }: { type: string }) => type)).toEqual(['device.created'])
  for (const name of ['Gull', 'Petrel']) await createDevice(account, name)
  const seen: number[] = []
  for (let calls = 0; calls < 3; calls++) {
    const more = await run(token, 'recent_events', {
      types: 'device.created',
      after: seen.at(-1) ?? 0,
      limit: 1,
    })
    expect(more.summary.includes('There may be more')).toBe(calls < 2)
    seen.push(...more.data.rows.map(({ sequence }: { sequence: number }) => sequence))
  }
  expect(new Set(seen).size).toBe(3)
  const wrong = await run(token, 'track_summary', { device: id, from: 'yesterday' })
  expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining('#/query/from')])
})

test('writing tools do what they say, and the audit names the caller', async () => {
  const account = await openAccount({ licenses: 1 })
  const { token } = account
  const { id } = await createDevice(account, 'Tern')
  const raised = await account.call('POST', `/api/devices/${id}/alerts`, {
    body: { alertName: 'LowBattery', text: 'low' },
  })
  const { id: alertId } = raised.body.alert
  const open = await run(token, 'list_alerts', { device: 'Tern', state: 'open' })
  expect(open.data.rows).toMatchObject([{ id: alertId, name: 'LowBattery' }])
  const acknowledged = await run(token, 'acknowledge_alert', { alertId })
  expect(acknowledged.summary).toBe(`Acknowledged the alert LowBattery (${alertId}).`)
  expect(acknowledged.data.state).toBe('acknowledged')
  const limited = await run(token, 'set_device_limits', { device: id, dailySmsLimit: 3 })
  expect(limited.data).toMatchObject({
    before: { dailySmsLimit: 20, dailyEmailLimit: 100 },
    now: { dailySmsLimit: 3, dailyEmailLimit: 100 },
  })
  const until = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10)
  const active = await run(token, 'reactivate_device', { device: id, expirationDate: until })
  expect(active.summary).toContain(`active now, until ${until}`)
  const watch = { device: id, name: 'Crossing', everyMinutes: 60, idempotencyKey: 'once' }
  const [first, second] = [
    await run(token, 'create_watch', watch),
    await run(token, 'create_watch', watch),
  ]
  expect(second.data.id).toBe(first.data.id)
  expect((await account.call('GET', '/api/watches')).body.watches).toHaveLength(1)
  const refused = await run(token, 'send_command', { device: id, command: 'STATUS' })
  expect([refused.isError, refused.text]).toEqual([
    true,
    expect.stringContaining('no-command-channel'),
  ])
  const { body } = await account.call('GET', '/api/account/audit')
  const entries: { action: string; actor: object }[] = body.entries
  expect(entries.find(({ action }) => action === 'alert.acknowledged')?.actor).toMatchObject({
    type: 'key',
  })
})

test('an API key is taken in place of a token, until it is deleted', async () => {
  const account = await openAccount({ cell: 1 })
  const { body } = await account.call('POST', '/api/account/keys', {
    body: { name: 'agent', scopes: ['read'] },
  })
  expect(await namesFor(body.apiKey)).toEqual(READING)
  expect((await run(body.apiKey, 'license_status')).data.licenses.total).toBe(10)
  await account.call('DELETE', `/api/account/keys/${body.key.id}`)
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const gone = await send(body.apiKey, message)
  expect([gone.status, gone.body.code]).toEqual([401, 'key-revoked'])
  const wrongKeys = [`${body.apiKey.slice(0, -1)}x`, 'pgk_x', account.apiKey.replace(/^pgk/, 'pgo')]
  for (const wrong of wrongKeys)
    expect([wrong, (await send(wrong, message)).body.code]).toEqual([wrong, 'wrong-credentials'])
})

test('a 401 says where agents are authorised', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const metadata =
    'resource_metadata="https://perigee.test/.well-known/oauth-protected-resource/mcp"'
  const missing = await call('POST', '/mcp', { body: message, headers: HEADERS })
  expect([missing.status, missing.headers.get('WWW-Authenticate')]).toEqual([
    401,
    `Bearer ${metadata}`,
  ])
  const wrong = await send('not.a.token', message)
  expect(wrong.status).toBe(401)
  expect(wrong.headers.get('WWW-Authenticate')).toBe(
    `Bearer error="invalid_token", code="token-invalid", ${metadata}`,
  )
})

test('every result of a sandbox says first that it is one', async () => {
  const [account, sandbox] = [await openAccount(), await openSandbox()]
  for (const tool of ['license_status', 'find_devices']) {
    const [marked, other] = await Promise.all(
      [sandbox, account].map(({ token }) =>
        ask(token, 'tools/call', { name: tool, arguments: {} }),
      ),
    )
    expect(marked.result.content[0].text).toMatch(/^This account is a sandbox.*\n/)
    expect(other.result.content[0].text).not.toContain('sandbox')
  }
})

test('batches, other methods, other origins and wrong bodies are refused', async () => {
  const { token } = await openAccount()
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (const body of [[message], [message, message], []]) {
    const batch = await send(token, body)
    expect([batch.status, batch.body.error.code]).toEqual([400, -32600])
  }
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const reply = await call(method, '/mcp', { token, headers: HEADERS })
    expect([reply.status, reply.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS'])
  }
  for (const Origin of ['https://evil.test', 'null', 'https://perigee.test.evil.test']) {
    const reply = await send(token, message, { Origin })
    expect([reply.status, reply.body.code]).toEqual([403, 'wrong-origin'])
    expect(reply.headers.get('Access-Control-Allow-Origin')).toBeNull()
  }
  expect((await send(token, message, { Origin: 'https://perigee.test' })).status).toBe(200)
  expect((await send(token, message, { 'Content-Type': 'text/plain' })).status).toBe(415)
  expect((await send(token, '{')).status).toBe(400)
  expect((await send(token, { hello: 'world' })).status).toBe(400)
  expect((await send(token, { ...message, params: { x: 'x'.repeat(70_000) } })).status).toBe(413)
  expect((await call('POST', '/mcp', { token, headers: HEADERS })).status).toBe(400)
  const unknown = await send(token, {
    ...message,
    method: 'tools/call',
    params: { name: 'drop_tables' },
  })
  expect(unknown.body.error.code).toBe(-32602)
  const invalid = await run(token, 'find_devices', { limit: 51, colour: 'red' })
  expect([invalid.isError, invalid.text]).toEqual([true, expect.stringContaining('limit')])
})

test('results are bounded', async () => {
  const account = await openAccount({ licenses: 60 })
  const { id } = await createDevice(account, 'Tern')
  const text = 'é'.repeat(900)
  for (let index = 0; index < 40; index++)
    await account.call('POST', `/api/devices/${id}/alerts`, {
      body: { alertName: `Own${index}`, text },
    })
  const all = await run(account.token, 'list_alerts', { limit: 50 })
  expect(new TextEncoder().encode(all.text).byteLength).toBeLessThanOrEqual(32_768)
  expect(all.summary).toContain('rows are left out')
  expect(all.data.rows.length).toBeGreaterThan(5)
  expect(all.data.nextCursor).toBeUndefined()
})
