import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ledgerOf } from '../../../src/ledger/stub.ts'
import { openAccount } from '../../support/accounts.ts'
import { callAsOperator } from '../../support/http.ts'
import { makeSource, sendPush } from '../../support/sources.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a source', () => {
  test('is created, read, changed and deleted; only two replies show its address', async () => {
    const account = await openAccount()
    const created = await account.call('POST', '/api/sources', {
      body: {
        name: 'inReach',
        provider: 'garmin',
        settings: { apiKey: 'k-1', sender: 'a@b.test' },
      },
    })
    expect(created.status).toBe(201)
    const { source, url } = created.body
    expect(url).toMatch(new RegExp(`/in/${source.id}/[0-9a-z]{40}$`))
    expect(source).toMatchObject({
      provider: 'garmin',
      enabled: true,
      newDevices: 'hold',
      keepRaw: false,
      lastReceived: null,
      settings: { apiKey: null, sender: 'a@b.test', password: null },
    })
    const path = `/api/sources/${source.id}`
    const read = await account.call('GET', path)
    expect(read.body).toEqual({ success: true, source })
    const patched = await account.call('PATCH', path, { body: { keepRaw: true } })
    expect(patched.body.source).toMatchObject({ keepRaw: true, settings: { sender: 'a@b.test' } })
    const list = await account.call('GET', '/api/sources')
    expect(list.body.sources).toMatchObject([{ id: source.id }])
    expect(JSON.stringify([read.body, patched.body, list.body])).not.toContain('k-1')
    expect((await account.call('DELETE', path)).status).toBe(200)
    expect((await account.call('GET', path)).status).toBe(404)
  })

  test('is patched as it is shown, with null for what is not set', async () => {
    const account = await openAccount()
    const settings = { apiKey: 'k-1', sender: 'a@b.test' }
    const { id } = await makeSource(account, 'garmin', { settings })
    const patch = (body: unknown) => account.call('PATCH', `/api/sources/${id}`, { body })
    const shown = (await account.call('GET', `/api/sources/${id}`)).body.source
    const { settings: shownSettings } = shown
    expect((await patch({ settings: shownSettings })).body.source.settings).toEqual(shownSettings)
    const replaced = await patch([
      { op: 'test', path: '/settings/apiKey', value: null },
      { op: 'replace', path: '/settings/apiKey', value: 'k-2' },
      { op: 'replace', path: '/settings/host', value: 'explore.garmin.com' },
    ])
    const host = 'explore.garmin.com'
    expect(replaced.body.source.settings).toEqual({ ...shownSettings, host })
    expect((await patch({ settings: { host: null } })).body.source.settings).toEqual(shownSettings)
    expect((await patch({ settings: { hosts: null } })).status).toBe(400)
    expect((await patch({ provider: 'osmand' })).body.errors).toMatchObject([
      { pointer: '/settings/sender' },
    ])
    const moved = await patch({ provider: 'osmand', settings: { sender: null } })
    expect(moved.body.source).toMatchObject({ provider: 'osmand', settings: {} })
  })

  test('of another provider than before has none of the secrets', async () => {
    const account = await openAccount()
    const settings = { host: 'explore.garmin.com', userName: 'fleet', password: 'p-1' }
    const { id } = await makeSource(account, 'garmin', { settings })
    const secretsOf = () => ledgerOf(env, account.id).editSourceSecrets(id, null)
    const put = (body: object) => account.call('PUT', `/api/sources/${id}`, { body })
    await put({ name: 'A', provider: 'garmin', settings: { apiKey: 'k-1' } })
    expect(await secretsOf()).toEqual({ apiKey: 'k-1', password: 'p-1' })
    await put({ name: 'A', provider: 'rockblock', settings: { userName: 'fleet' } })
    expect(await secretsOf()).toEqual({})
    await put({ name: 'A', provider: 'rockblock', settings: { password: 'p-2' } })
    expect(await secretsOf()).toEqual({ password: 'p-2' })
  })

  test('takes a key of 32 bytes, shows it never, and drops it for an empty one', async () => {
    const account = await openAccount()
    const key = 'ключ-of-sixteen-letters-'
    const { id } = await makeSource(account, 'owntracks', { settings: { encryptionKey: key } })
    const secretsOf = () => ledgerOf(env, account.id).editSourceSecrets(id, null)
    const patch = (settings: object) =>
      account.call('PATCH', `/api/sources/${id}`, { body: { settings } })
    const read = await account.call('GET', `/api/sources/${id}`)
    expect(read.body.source.settings).toEqual({ encryptionKey: null })
    expect((await patch({ encryptionKey: null })).status).toBe(200)
    expect(await secretsOf()).toEqual({ encryptionKey: key })
    const { status, body } = await patch({ encryptionKey: `${key}abcde` })
    expect([status, body.errors]).toMatchObject([
      400,
      [{ pointer: '/settings/encryptionKey', detail: 'must have at most 32 bytes' }],
    ])
    await patch({ encryptionKey: '' })
    expect(await secretsOf()).toEqual({})
  })

  test('decrypts with its key at once, and lists what it cannot decrypt', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'owntracks', {
      settings: { encryptionKey: 'perigee' },
    })
    // A location of tid PG in a box of libsodium with this key.
    const data =
      'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXWjoIsT5VOGUkKP44QGju0G0ucck+5XzONfYjGdcurRPfQgTu/l9tkOjqiIfv+kgE6Z2Gogf6x9/HFu/VaS5DOdoYR1nip5EVu64SngEdtR8g1S+9tA=='
    const push = () =>
      source.push({
        body: JSON.stringify({ _type: 'encrypted', data }),
        contentType: 'application/json',
      })
    const path = `/api/sources/${source.id}`
    const unclaimed = async () => (await account.call('GET', `${path}/unclaimed`)).body.unclaimed
    const failures = async () => (await account.call('GET', `${path}/failures`)).body.failures
    await account.call('PATCH', path, { body: { settings: { encryptionKey: 'other' } } })
    expect((await push()).status).toBe(200)
    expect(await failures()).toMatchObject([{ reason: expect.stringMatching(/be decrypted/) }])
    expect(await unclaimed()).toEqual([])
    await account.call('PATCH', path, { body: { settings: { encryptionKey: 'perigee' } } })
    const span = { from: '2026-01-01T00:00:00Z', to: new Date().toISOString() }
    const replayed = await account.call('POST', `${path}/replay`, { body: span })
    expect(replayed.body).toMatchObject({ decoded: 1, failed: 0 })
    expect((await push()).status).toBe(200)
    expect(await unclaimed()).toMatchObject([{ identifier: 'PG', count: 1 }])
  })

  test('beyond the 50th is refused and leaves nothing behind', async () => {
    const account = await openAccount()
    const { id } = await makeSource(account, 'osmand')
    await env.DB.prepare(
      `INSERT INTO sources (id, account_id, name, provider, enabled, settings, new_devices, keep_raw,
         hash, dropped, creation, last_modified, version)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
       SELECT id || i, account_id, name, provider, enabled, settings, new_devices, keep_raw,
         hash, dropped, creation, last_modified, version FROM n, sources WHERE id = ?`,
    )
      .bind(id)
      .run()
    const body = { name: 'x', provider: 'garmin', settings: { apiKey: 'k' } }
    const refused = await account.call('POST', '/api/sources', { body })
    expect([refused.status, refused.body.code]).toEqual([409, 'source-cap-reached'])
    const listed = await env.DB.prepare('SELECT id FROM source_directory WHERE account_id = ?')
      .bind(account.id)
      .all()
    expect(listed.results).toEqual([{ id }])
  })

  test('keeps its secrets in the ledger and its address as a hash: neither is in D1', async () => {
    const account = await openAccount()
    const { url } = await makeSource(account, 'rockblock', {
      settings: { userName: 'fleet', password: 'a-provider-password' },
    })
    const { results } = await env.DB.prepare('SELECT * FROM sources').all()
    const stored = JSON.stringify(results)
    expect(stored).toContain('fleet')
    expect(stored).not.toContain('a-provider-password')
    expect(stored).not.toContain(url.split('/').at(-1))
  })

  test('takes only the settings of its provider', async () => {
    const account = await openAccount()
    const { status, body } = await account.call('POST', '/api/sources', {
      body: { name: 'x', provider: 'spot', settings: { apiKey: 'k' } },
    })
    expect([status, body.errors[0].pointer]).toEqual([400, '/settings/apiKey'])
    const host = await account.call('POST', '/api/sources', {
      body: { name: 'x', provider: 'garmin', settings: { host: 'evil.example' } },
    })
    expect([host.status, host.body.errors[0].pointer]).toEqual([400, '/settings/host'])
  })

  test('cannot be made to create devices by a user who may create only some', async () => {
    const account = await openAccount()
    const bound = await createBoundUser(account, { privileges: ['admin'], adminDevices: 5 })
    const free = await createBoundUser(account, { privileges: ['admin'] })
    const create = { name: 'Phones', provider: 'osmand', newDevices: 'create' }
    const hold = { ...create, newDevices: 'hold' }
    const made = await bound.call('POST', '/api/sources', { body: hold })
    expect(made.status, made.text).toBe(201)
    const path = `/api/sources/${made.body.source.id}`
    const refused = [
      await bound.call('POST', '/api/sources', { body: create }),
      await bound.call('PUT', path, { body: create }),
      await bound.call('PATCH', path, { body: { newDevices: 'create' } }),
    ]
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([403, 'forbidden'])
      expect(body.detail).toContain('newDevices')
    }
    expect((await account.call('GET', '/api/sources')).body.sources).toHaveLength(1)
    const set = await free.call('PATCH', path, { body: { newDevices: 'create' } })
    expect(set.status).toBe(200)
    // What others have set stays, whatever else is edited.
    const renamed = await bound.call('PATCH', path, { body: { name: 'Trackers' } })
    expect(renamed.body.source).toMatchObject({ name: 'Trackers', newDevices: 'create' })
    expect((await bound.call('PUT', path, { body: create })).status).toBe(200)
    expect((await bound.call('PUT', path, { body: hold })).status).toBe(200)
  })

  test('of another account is not found', async () => {
    const { id } = await makeSource(await openAccount(), 'spot')
    const other = await openAccount()
    for (const path of ['', '/unclaimed', '/failures'])
      expect((await other.call('GET', `/api/sources/${id}${path}`)).status).toBe(404)
  })
})

describe('the address of a source', () => {
  test('with a wrong secret is a 404 that does not show it', async () => {
    const account = await openAccount()
    const { url } = await makeSource(account, 'osmand')
    const wrong = `${url.slice(0, -4)}zzzz`
    const reply = await sendPush(wrong, { query: '?id=7&lat=1&lon=2' })
    expect(reply.status).toBe(404)
    const text = await reply.text()
    expect(text).not.toContain(wrong.split('/').at(-1))
    expect(JSON.parse(text)).toMatchObject({ code: 'route-not-found' })
    const unknown = await sendPush(url.replace(/src_\w+/, 'src_0000000000000000000000'))
    expect(unknown.status).toBe(404)
  })

  test('is in no log line', async () => {
    const account = await openAccount()
    const { url, push } = await makeSource(account, 'osmand')
    const written: string[] = []
    for (const method of ['log', 'warn', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((line) => void written.push(String(line)))
    await push({ query: '?id=7&lat=1&lon=2' })
    await sendPush(`${url}x`, { query: '?id=7' })
    vi.restoreAllMocks()
    expect(written.length).toBeGreaterThan(0)
    expect(written.join('')).not.toContain(url.split('/').at(-1))
  })

  test('stops when the source is rotated, disabled or deleted', async () => {
    const account = await openAccount()
    const { id, url, push } = await makeSource(account, 'osmand')
    expect((await push({ query: '?id=7&lat=1&lon=2' })).status).toBe(200)
    const { body } = await account.call('POST', `/api/sources/${id}/rotate`)
    expect((await push({ query: '?id=7&lat=1&lon=2' })).status).toBe(404)
    expect((await sendPush(body.url, { query: '?id=7&lat=1&lon=2' })).status).toBe(200)
    expect(body.url).not.toBe(url)
    await account.call('PATCH', `/api/sources/${id}`, { body: { enabled: false } })
    expect((await sendPush(body.url, { query: '?id=7' })).status).toBe(404)
  })

  test('is dropped and stored again within 30 seconds after its account was disabled or enabled', async () => {
    const account = await openAccount()
    const { push } = await makeSource(account, 'osmand', { keepRaw: true })
    const stored = (table: string) =>
      env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`)
        .bind(account.id)
        .first<number>('n')
    let place = 0
    const send = async () => {
      expect((await push({ query: `?id=7&lat=${++place}&lon=2` })).status).toBe(200)
      return [await stored('unclaimed_reports'), await stored('source_payloads')]
    }
    const disable = (disabled: boolean) =>
      callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled } })
    expect(await send()).toEqual([1, 1])
    await disable(true)
    vi.useFakeTimers({ now: Date.now() + 29_000, toFake: ['Date'] })
    expect(await send()).toEqual([1, 1])
    await disable(false)
    vi.useFakeTimers({ now: Date.now() + 29_000, toFake: ['Date'] })
    expect(await send()).toEqual([2, 2])
  })

  test('another isolate stops within 30 seconds', async () => {
    const account = await openAccount()
    const { id, push } = await makeSource(account, 'osmand')
    expect((await push({ query: '?id=7&lat=1&lon=2' })).status).toBe(200)
    // Changed behind the isolate's back, as another isolate would.
    await env.DB.prepare('DELETE FROM sources WHERE id = ?').bind(id).run()
    vi.useFakeTimers({ now: Date.now() + 29_000, toFake: ['Date'] })
    expect((await push({ query: '?id=7&lat=1&lon=2' })).status).toBe(404)
  })

  test('counts a large push, and one of many locations, as several requests', async () => {
    const source = await makeSource(await openAccount(), 'flespi')
    const leftAfter = async (messages: object[]) => {
      const body = JSON.stringify(messages)
      const { headers } = await source.push({ body, contentType: 'application/json' })
      return Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
    }
    const before = await leftAfter([])
    // One of itself, one for each 64 KiB, and one for each 10 ms of work after the first.
    expect(before - (await leftAfter([{ text: 'x'.repeat(140_000) }]))).toBe(1 + 2 + 6)
    const at = Math.floor(Date.now() / 1000)
    const fixes = Array.from({ length: 250 }, (_, index) => ({
      ident: 'a',
      timestamp: at - index,
      'position.latitude': 1,
      'position.longitude': 2,
    }))
    expect(before - 9 - (await leftAfter(fixes))).toBe(1 + 2 + 1)
  })

  test('takes at most 256 KiB', async () => {
    const { push } = await makeSource(await openAccount(), 'flespi')
    const body = JSON.stringify([{ ident: 'x'.repeat(300_000) }])
    expect((await push({ body, contentType: 'application/json' })).status).toBe(413)
  })
})
