import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { findSigningKey, readPushKey, rotatePushKey } from '../../../src/notify/pushKeys.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount } from '../../support/accounts.ts'
import { fromBase64url, makeBrowser, subscribe } from '../../support/alerts/push.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

interface KeyRow {
  id: string
  public_key: string
  private_key: string
}

const readRows = async () =>
  (await env.DB.prepare('SELECT * FROM push_keys ORDER BY id').all<KeyRow>()).results

const readPublic = async () => (await call('GET', '/api/push/key')).body.publicKey

/** Whether what the private part signs is verified by the public one. */
const isPair = async (id: string, publicKey: string, bindings = env) => {
  const found = await findSigningKey(bindings, id)
  if (!found) return false
  const data = new TextEncoder().encode('signed')
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(algorithm, found.key, data)
  const curve = { name: 'ECDSA', namedCurve: 'P-256' }
  const raw = fromBase64url(publicKey)
  const verifier = await crypto.subtle.importKey('raw', raw, curve, false, ['verify'])
  return crypto.subtle.verify(algorithm, verifier, signature, data)
}

beforeEach(async () => {
  await env.DB.batch([
    env.DB.prepare('DELETE FROM push_keys'),
    env.DB.prepare('DELETE FROM push_subscriptions'),
  ])
})

describe('the key that browsers subscribe with', () => {
  test('is made once, though twenty ask for the first at the same time', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => readPushKey(env)))
    const rows = await readRows()
    expect(rows).toHaveLength(1)
    expect(new Set(found.map(({ publicKey }) => publicKey))).toEqual(new Set([rows[0]?.public_key]))
    expect(fromBase64url(rows[0]?.public_key ?? '')).toHaveLength(65)
    expect(await isPair(rows[0]?.id ?? '', rows[0]?.public_key ?? '')).toBe(true)
  })

  test('is open to everybody, and its private part is in no reply and not readable in the database', async () => {
    const { publicKey } = await readPushKey(env)
    const reply = await call('GET', '/api/push/key')
    expect([reply.status, reply.body]).toEqual([200, { success: true, publicKey }])
    const [row] = await readRows()
    expect(row?.private_key).toMatch(/^[0-9a-f]{12}\.[\w-]{16}\.[\w-]{200,}$/)
    expect(row?.private_key).not.toContain(btoa('{"kty"').slice(0, 6))
  })

  test('is replaced by the operator alone; subscriptions keep theirs', async () => {
    const user = await createBoundUser(await openAccount({ cell: 1 }), { privileges: ['admin'] })
    const first = await readPushKey(env)
    await subscribe(user, await makeBrowser())
    expect((await user.call('POST', '/admin/push/rotateKey')).status).toBe(401)
    expect(await readPublic()).toBe(first.publicKey)
    const reply = await callAsOperator('POST', '/admin/push/rotateKey')
    expect(reply.status).toBe(200)
    expect(reply.body.publicKey).not.toBe(first.publicKey)
    expect(await readPublic()).toBe(reply.body.publicKey)
    await rotatePushKey(env)
    await rotatePushKey(env)
    // The first is in use in another cell; the second is not, and not the last one either.
    const ids = (await readRows()).map(({ id }) => id)
    expect(ids).toEqual(['psk_000001', 'psk_000003', 'psk_000004'])
    expect(await isPair(first.id, first.publicKey)).toBe(true)
    await env.CELL_1.prepare('DELETE FROM push_subscriptions').run()
    await rotatePushKey(env)
    expect((await readRows()).map(({ id }) => id)).toEqual(['psk_000004', 'psk_000005'])
  })

  test('is replaced once by operators who ask at the same time', async () => {
    const first = await readPushKey(env)
    const rotated = await Promise.all([rotatePushKey(env), rotatePushKey(env)])
    for (const { id, publicKey } of rotated) expect(await isPair(id, publicKey)).toBe(true)
    expect(rotated.map(({ id }) => id)).not.toContain(first.id)
  })
})

describe('after TOKEN_SECRET was replaced', () => {
  const rotated = {
    ...env,
    TOKEN_SECRET: 'the-secret-that-comes-after-the-present-one',
    TOKEN_SECRET_PREVIOUS: env.TOKEN_SECRET,
  }
  const withoutPrevious = { ...rotated, TOKEN_SECRET_PREVIOUS: '' }

  test('the previous one still reads the key, and the sweep encrypts it with the new one', async () => {
    const { id, publicKey } = await readPushKey(env)
    expect(await isPair(id, publicKey, rotated)).toBe(true)
    expect(await isPair(id, publicKey, withoutPrevious)).toBe(false)
    await sweep(rotated, Date.now())
    expect(await isPair(id, publicKey, withoutPrevious)).toBe(true)
    const [row] = await readRows()
    await sweep(rotated, Date.now())
    expect(await readRows()).toEqual([row])
  })

  test('without the previous one the operator makes a new key', async () => {
    const before = await readPushKey(env)
    const { id, publicKey } = await rotatePushKey(withoutPrevious)
    expect(publicKey).not.toBe(before.publicKey)
    expect(await isPair(id, publicKey, withoutPrevious)).toBe(true)
  })
})
