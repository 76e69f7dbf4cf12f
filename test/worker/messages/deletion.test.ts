import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { createUser } from '../../support/users.ts'

const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

describe('deletion', () => {
  const rowsOf = async (accountId: string) => {
    const [alerts, messages] = await env.DB.batch<{ n: number }>(
      ['alerts', 'messages'].map((table) =>
        env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`).bind(accountId),
      ),
    )
    return [alerts?.results[0]?.n, messages?.results[0]?.n]
  }

  const seeded = async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000022', notify: { email: true, sms: true } })
    const [kept, gone] = [await createDevice(account), await createDevice(account)]
    for (const id of [kept, gone, gone]) await raiseAlert(account, id)
    await waitUntilSent(account)
    return { account, kept, gone }
  }

  test('of a device removes its alerts and their messages only', async () => {
    const { account, kept, gone } = await seeded()
    expect(await rowsOf(account.id)).toEqual([3, 6])
    await account.call('DELETE', `/api/devices/${gone}`)
    await sweep(env, Date.now() + RESTORED_WITHIN)
    expect(await rowsOf(account.id)).toEqual([1, 2])
    expect(
      (await account.call('GET', `/api/devices/${kept}/alerts`)).body.alerts[0].deliveries,
    ).toHaveLength(2)
  })

  test('of a device or an account removes the logs of its alerts', async () => {
    const { account, gone } = await seeded()
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    for (const { id } of alerts) await account.call('POST', `/api/alerts/${id}/acknowledge`)
    const logged = async () => {
      const statement = 'SELECT count(DISTINCT alert_id) AS n FROM alert_log WHERE account_id = ?'
      return (await env.DB.prepare(statement).bind(account.id).first<{ n: number }>())?.n
    }
    expect(await logged()).toBe(3)
    await account.call('DELETE', `/api/devices/${gone}`)
    await sweep(env, Date.now() + RESTORED_WITHIN)
    expect(await logged()).toBe(1)
    await eraseAccount(account)
    await sweep(env, Date.now())
    expect(await logged()).toBe(0)
  })

  test('of an account removes all its alerts and messages', async () => {
    const { account } = await seeded()
    await eraseAccount(account)
    await sweep(env, Date.now())
    expect(await rowsOf(account.id)).toEqual([0, 0])
  })

  /** A deleted device is kept for a week. */
  const RESTORED_WITHIN = 7 * 86_400_000
  const DAY = 86_400_000

  test('when they arrived longer ago than the account keeps them: a late alert stays', async () => {
    const { account, kept } = await seeded()
    await account.call('PATCH', '/api/account', { body: { retentionDays: 30 } })
    const arrival = Date.now()
    for (const days of [400, 29])
      await raiseAlert(account, kept, {
        alertName: 'SOSButton',
        dateTime: new Date(arrival - days * DAY).toISOString(),
      })
    await waitUntilSent(account)
    expect(await rowsOf(account.id)).toEqual([5, 10])
    await sweep(env, arrival)
    expect(await rowsOf(account.id)).toEqual([5, 10])
    const { body } = await account.call('GET', `/api/devices/${kept}/alerts`)
    const { id: last, received_at: arrivedAt } = (await env.DB.prepare(
      'SELECT id, received_at FROM alerts WHERE account_id = ? ORDER BY received_at DESC LIMIT 1',
    )
      .bind(account.id)
      .first<{ id: string; received_at: number }>()) ?? { id: '', received_at: 0 }
    expect(ids(body.alerts)).toContain(last)
    expect(arrivedAt).toBeGreaterThanOrEqual(arrival)
    await sweep(env, arrivedAt + 30 * DAY)
    expect((await account.call('GET', `/api/alerts/${last}`)).status).toBe(200)
    await sweep(env, arrivedAt + 30 * DAY + 1)
    expect(await rowsOf(account.id)).toEqual([0, 0])
  })

  test('of SMS with commands, which no alert has, with their commands', async () => {
    const account = await openAccount()
    const id = await createDevice(account, { min: '+881632000000' })
    const body = { command: 'RESET', sms: true }
    await account.call('POST', `/api/devices/${id}/sendCommand`, { body })
    await waitUntilSent(account)
    await sweep(env, Date.now() + 364 * DAY)
    expect(await rowsOf(account.id)).toEqual([0, 1])
    await sweep(env, Date.now() + 366 * DAY)
    expect(await rowsOf(account.id)).toEqual([0, 0])
  })

  test('in pages, even when one alert has thousands of messages', async () => {
    const { account, gone } = await seeded()
    // The first alert of the device that is deleted has 12,000 messages more.
    await env.DB.prepare(
      `INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status, attempts, changed, seq)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
       SELECT m.account_id, substr(m.id, 1, 26) || 'x' || printf('%05d', i), m.device_key, 'Email', 'a@a.io', '', '', 'sent', 1, 0, 0
       FROM (SELECT m.* FROM messages m JOIN devices d ON d.key = m.device_key WHERE d.id = ? ORDER BY m.id LIMIT 1) m, n`,
    )
      .bind(gone)
      .run()
    expect(await rowsOf(account.id)).toEqual([3, 12_006])
    await account.call('DELETE', `/api/devices/${gone}`)
    const batch = vi.spyOn(env.DB, 'batch')
    await sweep(env, Date.now() + RESTORED_WITHIN)
    const results = await Promise.all(batch.mock.results.map(({ value }) => value))
    batch.mockRestore()
    const deleted = results.flat().map(({ meta }: D1Result) => meta.changes)
    // Each with a change of the account's usage.
    expect(Math.max(...deleted)).toBe(2 * 5000)
    expect(await rowsOf(account.id)).toEqual([1, 2])
  })
})
