// Uses the tools for agents with the official client of the protocol, in both of its eras.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const WRITING = [
  'acknowledge_alert',
  'reactivate_device',
  'set_device_limits',
  'send_command',
  'create_watch',
]

async function connect(url, bearer, mode) {
  const client = new Client(
    { name: 'perigee-test', version: '1' },
    { versionNegotiation: { mode } },
  )
  const headers = { Authorization: `Bearer ${bearer}` }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers },
  })
  await client.connect(transport)
  return client
}

const textOf = ({ content: [{ text }] }) => text

async function useTools(client, { device, alertId }) {
  const { tools } = await client.listTools()
  assert.equal(tools.length, 13)
  for (const { name, description, inputSchema, annotations } of tools) {
    assert.equal(inputSchema.type, 'object')
    assert.equal(annotations.readOnlyHint, !WRITING.includes(name), name)
    assert.equal(/^(CHANGES|SENDS): /.test(description), WRITING.includes(name), name)
  }
  const call = (name, given = {}) => client.callTool({ name, arguments: given })
  assert.match(textOf(await call('find_devices', { search: 'ern' })), /^1 device\./)
  assert.match(textOf(await call('where_is', { device: 'Tern 7' })), /^“Tern 7” \(dev_.* ago\./)
  assert.match(textOf(await call('track_summary', { device })), /moved [\d.]+ km/)
  assert.match(textOf(await call('list_trips', { device })), /has \d+ trips/)
  assert.match(textOf(await call('list_alerts', { device })), /LowBattery/)
  assert.match(textOf(await call('license_status')), /uses 1 of 20 licenses/)
  assert.match(textOf(await call('read_usage')), /licenseDays/)
  assert.match(textOf(await call('recent_events', { types: 'alert.*' })), /alert\.raised/)
  assert.match(textOf(await call('acknowledge_alert', { alertId })), /^Acknowledged the alert/)
  const wrong = await call('where_is', { device: 'Albatross' })
  assert.equal(wrong.isError, true)
  await assert.rejects(call('drop_tables'))
}

export async function run({ url, openAccount }) {
  for (const [index, mode] of ['legacy', { pin: '2026-07-28' }, 'auto'].entries()) {
    const account = await openAccount({ userName: `mcp-${index}`, name: 'Agents' })
    const { device } = await account.call('POST', '/api/devices', { name: 'Tern 7' })
    const now = Date.now()
    await account.call('POST', `/api/devices/${device.id}/locations`, {
      locations: [30, 20, 10].map((minutes) => ({
        dateTime: new Date(now - minutes * 60_000).toISOString(),
        latitude: 41 + minutes / 100,
        longitude: -8.7,
      })),
    })
    const raised = { alertName: 'LowBattery' }
    const { alert } = await account.call('POST', `/api/devices/${device.id}/alerts`, raised)
    for (const bearer of [account.token, account.apiKey]) {
      const client = await connect(url, bearer, mode)
      await useTools(client, { device: device.id, alertId: alert.id })
      await client.close()
    }
    const { apiKey } = await account.call('POST', '/api/account/keys', {
      name: 'reader',
      scopes: ['read'],
    })
    const reader = await connect(url, apiKey, mode)
    const { tools } = await reader.listTools()
    assert.deepEqual(
      tools.filter(({ name }) => WRITING.includes(name)),
      [],
    )
    await reader.close()
    await assert.rejects(connect(url, 'not-a-token', mode))
  }
}
