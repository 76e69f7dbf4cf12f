import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fetchToken, openAccount } from '../../support/accounts.ts'
import { actionsOf, auditOf } from '../../support/db/audit.ts'
import { createDevice } from '../../support/devices.ts'
import { feedStub } from '../../support/feed/feed.ts'
import { createWebhook, openAccountWithReceiver, receiver } from '../../support/feed/webhooks.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { createSignInUser } from '../../support/sessions.ts'
import { makeSource } from '../../support/sources.ts'
import { DAY_MS, eventually } from '../../support/time.ts'

vi.spyOn(console, 'log').mockImplementation(() => {})
afterEach(() => {
  vi.useRealTimers()
})

const HIDDEN = '(hidden)'

describe('webhooks', () => {
  test('leave an entry when they are created, changed, tested, given a new secret, deleted', async () => {
    const account = await openAccount()
    const target = receiver()
    const url = `${target.url()}?token=url-secret`
    const { webhook, secret } = await createWebhook(account, { url, description: 'Dispatch' })
    const path = `/api/webhooks/${webhook.id}`
    await account.call('PATCH', path, { body: { description: 'Night', url: `${url}2` } })
    const { delivery } = (await account.call('POST', `${path}/test`)).body
    await account.call('POST', `${path}/deliveries/${delivery.id}/redeliver`)
    const rotated = (await account.call('POST', `${path}/rotate`)).body
    await account.call('DELETE', path)
    const entries = await auditOf(account, `resource=${webhook.id}`)
    expect(entries.map(({ action }) => action)).toEqual([
      'webhook.deleted',
      'webhook.secretRotated',
      'webhook.redelivered',
      'webhook.tested',
      'webhook.updated',
      'webhook.created',
    ])
    for (const { actor } of entries) expect(actor).toMatchObject({ type: 'key', name: 'first' })
    expect(entries[4]?.changes).toEqual([
      { path: 'url', from: HIDDEN, to: HIDDEN },
      { path: 'description', from: 'Dispatch', to: 'Night' },
    ])
    expect(entries[3]?.changes).toContainEqual({ path: 'delivery', from: null, to: delivery.id })
    const text = JSON.stringify(entries)
    for (const hidden of ['url-secret', secret, rotated.secret]) expect(text).not.toContain(hidden)
  })

  test('a rotation and a test that an Idempotency-Key repeats have one entry', async () => {
    const account = await openAccount()
    const { webhook } = await createWebhook(account, { url: receiver().url() })
    for (const what of ['rotate', 'test']) {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      for (let time = 0; time < 2; time++)
        await account.call('POST', `/api/webhooks/${webhook.id}/${what}`, { headers })
    }
    expect(await actionsOf(account, `resource=${webhook.id}`)).toEqual([
      'webhook.tested',
      'webhook.secretRotated',
      'webhook.created',
    ])
  })

  test('what the feed cannot store in the cell is stored later', async () => {
    const account = await openAccount()
    const { webhook } = await createWebhook(account, { url: receiver().url() })
    await env.DB.prepare(
      `CREATE TRIGGER audit_fails BEFORE INSERT ON audit WHEN NEW.action = 'webhook.secretRotated'
       BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`,
    ).run()
    try {
      const { status } = await account.call('POST', `/api/webhooks/${webhook.id}/rotate`)
      expect(status).toBe(200)
      expect(await actionsOf(account, `resource=${webhook.id}`)).toEqual(['webhook.created'])
    } finally {
      await env.DB.prepare('DROP TRIGGER audit_fails').run()
    }
    await runDurableObjectAlarm(feedStub(account))
    await eventually(async () =>
      expect(await actionsOf(account, `resource=${webhook.id}`)).toEqual([
        'webhook.secretRotated',
        'webhook.created',
      ]),
    )
  })

  test('one that the service disables names the service', async () => {
    const { account, id } = await openAccountWithReceiver('410')
    await eventually(async () => {
      const [entry] = await auditOf(account, `resource=${id}`)
      expect(entry).toMatchObject({
        action: 'webhook.disabled',
        actor: { type: 'system', id: 'webhooks' },
        changes: [{ path: 'disabledReason', from: null, to: 'gone' }],
        address: null,
      })
    })
  })
})

describe('sources', () => {
  test('leave an entry for their secrets, which it does not show', async () => {
    const account = await openAccount()
    const settings = { host: 'explore.garmin.com', apiKey: 'first-secret' }
    const { id, url } = await makeSource(account, 'garmin', { settings })
    const path = `/api/sources/${id}`
    await account.call('PATCH', path, { body: { settings: { apiKey: 'second-secret' } } })
    await account.call('PATCH', path, { body: { settings: { apiKey: 'second-secret' } } })
    await account.call('PATCH', path, { body: { settings: { apiKey: '' } } })
    await account.call('PATCH', path, { body: { settings: { apiKey: 'third-secret' } } })
    const rotated = (await account.call('POST', `${path}/rotate`)).body
    await account.call('DELETE', path)
    const ofSecrets = await eventually(async () => {
      const found = await auditOf(account, `resource=${id}&action=source.secretsChanged`)
      expect(found).toHaveLength(5)
      return found
    })
    const changed = ofSecrets.map(({ changes: [change] }) => [change?.from, change?.to])
    expect(changed).toEqual([
      [HIDDEN, null],
      [null, HIDDEN],
      [HIDDEN, null],
      [HIDDEN, HIDDEN],
      [null, HIDDEN],
    ])
    for (const { changes, actor } of ofSecrets) {
      expect(changes).toMatchObject([{ path: 'settings/apiKey' }])
      expect(actor).toMatchObject({ type: 'key', name: 'first' })
    }
    const all = await auditOf(account, `resource=${id}&limit=1000`)
    expect(all.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['source.created', 'source.addressReplaced', 'source.deleted']),
    )
    for (const secret of ['-secret', url.split('/').at(-1), rotated.url.split('/').at(-1)])
      expect(JSON.stringify(all)).not.toContain(secret)
  })

  test('a push writes no entry, and a device that it creates is the source’s', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'osmand', { newDevices: 'create' })
    const push = (id: string, at: number) =>
      source.push({ query: `?id=${id}&lat=1&lon=2&timestamp=${Math.floor(at / 1000)}` })
    await push('tracker-1', Date.now() - 60_000)
    const [created] = await auditOf(account, 'action=device.created')
    expect(created).toMatchObject({ actor: { type: 'source', id: source.id, name: 'Test' } })
    const before = await actionsOf(account, 'limit=1000')
    expect((await push('tracker-1', Date.now())).status).toBe(200)
    expect(await actionsOf(account, 'limit=1000')).toEqual(before)
  })
})

describe('exports', () => {
  const openWithTrack = async () => {
    const account = await openAccount()
    const id = await createDevice(account, 'Tern')
    const dateTime = new Date(Date.now() - 60_000).toISOString()
    await account.call('POST', `/api/devices/${id}/locations`, {
      body: { dateTime, latitude: 38.7223, longitude: -9.1393 },
    })
    return { account, id }
  }

  test('of a track leave one entry for each file', async () => {
    const { account, id } = await openWithTrack()
    const from = '2026-01-01T00:00:00.000Z'
    for (const format of ['gpx', 'kml', 'csv', 'geojson']) {
      const path = `/api/devices/${id}/locations?format=${format}&from=${from}`
      expect((await account.call('GET', path)).status).toBe(200)
    }
    const headers = { Accept: 'application/gpx+xml' }
    await account.call('GET', `/api/devices/${id}/locations`, { headers })
    const entries = await auditOf(account, 'action=track.exported')
    const formats = entries.map(({ changes }) => changes.find(({ path }) => path === 'format')?.to)
    expect(formats).toEqual(['gpx', 'geojson', 'csv', 'kml', 'gpx'])
    expect(entries.at(-1)).toMatchObject({
      resource: { type: 'device', id },
      changes: [{ path: 'format' }, { path: 'from', from: null, to: from }],
      actor: { type: 'key' },
    })
    expect(JSON.stringify(entries)).not.toMatch(/38\.7223|-9\.13/)
  })

  test('reads, refused exports and HEAD leave none', async () => {
    const { account, id } = await openWithTrack()
    const path = `/api/devices/${id}/locations`
    for (const query of ['', '?limit=10', '?simplify=10', '?format=json'])
      expect((await account.call('GET', path + query)).status).toBe(200)
    await account.call('POST', path, { body: { from: '2026-01-01T00:00:00Z' } })
    expect((await account.call('GET', `${path}?format=gpx&limit=5`)).status).toBe(400)
    expect((await account.call('GET', '/api/devices/dev_x/locations?format=gpx')).status).toBe(404)
    await account.call('HEAD', `${path}?format=gpx`)
    expect(await actionsOf(account, 'action=track')).toEqual([])
  })
})

/** Numbers and texts that no entry may have. */
const SECRETS = ['hunter-horse-battery', '17.4242', '42.1717', 'sub-secret', 'api-secret']

test('no entry has a password, a secret or a position', async () => {
  const account = await openAccount()
  const user = await createSignInUser(account, { password: SECRETS[0] })
  await account.call('PATCH', `/api/users/${user.id}`, { body: { password: `${SECRETS[0]}-2` } })
  const shape = { type: 'Circle', center: [17.4242, 42.1717], radius: 500 }
  const { zone } = (await account.call('POST', '/api/zones', { body: { name: 'Z', shape } })).body
  const moved = { ...shape, center: [17.4242, 42.5] }
  await account.call('PATCH', `/api/zones/${zone.id}`, { body: { shape: moved } })
  const deviceId = await createDevice(account, 'Tern')
  const alert = { alertName: 'LowBattery', latitude: 42.1717, longitude: 17.4242 }
  await account.call('POST', `/api/devices/${deviceId}/alerts`, { body: alert })
  await makeSource(account, 'garmin', {
    settings: { apiKey: 'api-secret', password: 'api-secret' },
  })
  await createWebhook(account, { url: `${receiver().url()}?key=sub-secret` })
  const key = (
    await account.call('POST', '/api/account/keys', { body: { name: 'Made', scopes: ['read'] } })
  ).body
  const { results } = await env.DB.prepare('SELECT * FROM audit WHERE account_id = ?')
    .bind(account.id)
    .all()
  const text = JSON.stringify(results)
  expect(text).toContain('zone.updated')
  const secretOf = (apiKey: string) => apiKey.slice(-20)
  for (const secret of [...SECRETS, secretOf(key.apiKey), secretOf(account.apiKey)])
    expect(text).not.toContain(secret)
})

test('an expiry names the ledger', async () => {
  const account = await openAccount()
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const limits = { expires: true, expirationDate: tomorrow }
  const { body } = await account.call('POST', '/api/devices', { body: { name: 'Tern', limits } })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS })
  await ledgerStub(account).recordExpirations()
  const token = await fetchToken(account.userName, account.apiKey)
  const reply = await account.call('GET', `/api/account/audit?resource=${body.device.id}`, {
    token,
  })
  expect(reply.body.entries).toMatchObject([
    { action: 'device.expired', actor: { type: 'system', id: 'ledger' }, address: null },
    { action: 'device.created', actor: { type: 'key' } },
  ])
})
