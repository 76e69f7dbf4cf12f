import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { Slices } from '../../../src/http/admission/slices.ts'
import { loadRules, MAX_CACHE_BYTES, ruleCache } from '../../../src/rules/evaluate/cache.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { callAsOperator } from '../../support/http.ts'
import { alertsOf, fixAt, start } from '../../support/ruleTracks.ts'
import { createBoundUser } from '../../support/users.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* The token that reports evaluate rules by, and what isolates keep under it. */

const versionOf = ({ id }: TestAccount) =>
  env.DB.prepare('SELECT rules_version FROM accounts WHERE id = ?')
    .bind(id)
    .first<string | null>('rules_version')

const setVersion = ({ id }: TestAccount, version: string | null) =>
  env.DB.prepare('UPDATE accounts SET rules_version = ? WHERE id = ?').bind(version, id).run()

test('reconcile gives an account with rules a new token, and one without rules none', async () => {
  const [account, plain] = [await openAccount(), await openAccount()]
  const [zone, device] = [await createZone(account), await createDevice(account)]
  await createRule(account, { when: { type: 'enters', zones: [zone] } })
  const first = await versionOf(account)
  const reconcile = ({ id }: TestAccount) =>
    callAsOperator('POST', `/admin/accounts/${id}/reconcile`, { body: {} })
  // A restored cell may have lost the token, or have an earlier one.
  await setVersion(account, null)
  await setVersion(plain, 'left')
  for (const one of [account, plain]) expect((await reconcile(one)).status).toBe(200)
  const restored = await versionOf(account)
  expect(restored).toMatch(/\S/)
  expect(restored).not.toBe(first)
  expect(await versionOf(plain)).toBeNull()
  const at = start()
  const body = [fixAt(at, 'out'), fixAt(at + 1, 'in')]
  await account.call('POST', `/api/devices/${device}/locations`, { body })
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test('whatever changes who is in a group of a rule renews the token', async () => {
  const account = await openAccount()
  const [zone, one, two] = [
    await createZone(account),
    await createDevice(account),
    await createDevice(account),
  ]
  const { id: group } = await createGroup(account, { name: 'North', devices: [one] })
  await createRule(account, { when: { type: 'enters', zones: [zone] }, groups: [group] })
  const seen = [await versionOf(account)]
  const change = async (method: string, path: string, body?: object) => {
    expect((await account.call(method, path, body ? { body } : {})).status).toBeLessThan(300)
    seen.push(await versionOf(account))
  }
  await change('PATCH', `/api/groups/${group}`, { devices: [one, two] })
  await change('PUT', `/api/groups/${group}`, { name: 'North', devices: [two] })
  await change('PATCH', `/api/zones/${zone}`, { name: 'Port' })
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).not.toContain(null)
  // The rule is left without a group: it is disabled, and no report evaluates rules any more.
  await change('DELETE', `/api/groups/${group}`)
  expect(seen.at(-1)).toBeNull()
})

test('a device that a confined user creates is evaluated as one of the group', async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const { id: group } = await createGroup(account, { name: 'North', devices: [] })
  await createRule(account, { when: { type: 'enters', zones: [zone] }, groups: [group] })
  const confined = await createBoundUser(account, { group, privileges: ['write'] })
  const device = await createDevice(confined)
  const at = start()
  const body = [fixAt(at, 'out'), fixAt(at + 1, 'in')]
  await confined.call('POST', `/api/devices/${device}/locations`, { body })
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test('compiled zones stay within 16 MB: the oldest are compiled again', async () => {
  const ring = Array.from({ length: 999 }, (_, index) => {
    const angle = (index / 999) * 2 * Math.PI
    return [Math.cos(angle), Math.sin(angle)]
  })
  const shape = JSON.stringify({ type: 'Polygon', coordinates: [[...ring, ring[0]]] })
  const accounts = Array.from({ length: 11 }, (_, index) => `acc_large${index}`)
  const zones = Array.from({ length: 20 }, (_, index) => `zon_${index}`)
  for (const id of accounts) {
    const own = zones.map((zone) => `${zone}_${id}`)
    const record = JSON.stringify({ when: { type: 'enters', zones: own }, devices: [], groups: [] })
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO zones (id, account_id, name, description, color, shape, vertices, creation,
          last_modified, version) SELECT value, ?1, '', '', '', ?2, 1000, 1, 1, 1
        FROM json_each(?3)`,
      ).bind(id, shape, JSON.stringify(own)),
      env.DB.prepare(
        `INSERT INTO rules (id, account_id, enabled, type, record, creation, last_modified, version)
        VALUES (?1, ?2, 1, 'enters', ?3, 1, 1, 1)`,
      ).bind(`rul_${id}`, id, record),
    ])
    const compiled = await loadRules(openCell(env, 0), id, 'any', new Slices())
    expect(compiled.rules[0]?.signals).toHaveLength(20)
    expect(compiled.bytes).toBeGreaterThan(20_000 * 80)
    expect(ruleCache.size).toBeLessThanOrEqual(MAX_CACHE_BYTES)
  }
  expect(MAX_CACHE_BYTES).toBe(16_000_000)
  expect(ruleCache.get('acc_large0')).toBeUndefined()
  expect(ruleCache.get('acc_large10')).toBeDefined()
})
