import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createRule } from '../../support/zones.ts'

const MINUTE = 60_000

const run = (now = Date.now()) => sweep(env as never, now)

/** Moves the device's contacts into the past, and the rules' changes before them. */
const setBack = async (account: TestAccount, device: string, minutes: number) => {
  const ms = minutes * MINUTE
  await env.DB.batch([
    env.DB.prepare(
      `UPDATE locations SET received_at = received_at - ?1
        WHERE device_key = (SELECT key FROM devices WHERE id = ?2)`,
    ).bind(ms, device),
    env.DB.prepare('UPDATE devices SET last_contact = last_contact - ? WHERE id = ?').bind(
      ms,
      device,
    ),
    env.DB.prepare('UPDATE rules SET last_modified = 0 WHERE account_id = ?').bind(account.id),
  ])
}

const report = (account: TestAccount, device: string) =>
  account.call('POST', `/api/devices/${device}/locations`, {
    body: { dateTime: new Date().toISOString(), latitude: 1, longitude: 2 },
  })

const alertsOf = async (account: TestAccount, device: string) => {
  await vi.waitFor(async () => {
    const pending = await env.DB.prepare('SELECT count(*) AS n FROM pending_raises').first('n')
    expect(pending).toBe(0)
  })
  const { alerts } = (await account.call('GET', `/api/devices/${device}/alerts`)).body
  return alerts.map(({ alerts: [name] }: { alerts: string[] }) => name)
}

const eventsOf = async (account: TestAccount) => {
  const { events } = (await account.call('GET', '/api/events?types=device.silent,device.returned'))
    .body
  return events.map(({ type }: { type: string }) => type)
}

test('a device that falls silent is told once, and once when it returns', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createRule(account, { when: { type: 'silent', minutes: 60 } })
  await createRule(account, { when: { type: 'returns' } })
  await report(account, device)
  await run()
  expect(await alertsOf(account, device)).toEqual([])
  await setBack(account, device, 61)
  await run()
  // A second run, and one at the same time, tell nothing more.
  await Promise.all([run(), run()])
  expect(await alertsOf(account, device)).toEqual(['Offline'])
  expect(await eventsOf(account)).toEqual(['device.silent'])
  const { alerts } = (await account.call('GET', `/api/devices/${device}/alerts`)).body
  expect(alerts[0]).toMatchObject({
    text: 'No contact for 60 minutes.',
    latitude: 1,
    positionSource: 'last-known',
  })
  // The alert itself is no contact.
  const read = (await account.call('GET', `/api/devices/${device}`)).body.device
  expect(Date.parse(read.lastContact)).toBeLessThan(Date.now() - 60 * MINUTE)
  await report(account, device)
  await Promise.all([run(), run()])
  await run()
  expect((await alertsOf(account, device)).sort()).toEqual(['Offline', 'Online'])
  expect(await eventsOf(account)).toEqual(['device.silent', 'device.returned'])
  await setBack(account, device, 61)
  await run()
  expect((await alertsOf(account, device)).sort()).toEqual(['Offline', 'Offline', 'Online'])
})

test('devices that never called, have expired, or are not of the rule are not silent', async () => {
  const account = await openAccount()
  const [unheard, expired, other, own] = [
    await createDevice(account),
    await createDevice(account),
    await createDevice(account),
    await createDevice(account),
  ]
  await createRule(account, {
    when: { type: 'silent', minutes: 60 },
    devices: [unheard, expired, own],
  })
  for (const device of [expired, other, own]) {
    await report(account, device)
    await setBack(account, device, 90)
  }
  await account.call('PATCH', `/api/devices/${expired}`, {
    body: { limits: { expires: true, expirationDate: '2020-01-01' } },
  })
  await run()
  expect(await alertsOf(account, own)).toEqual(['Offline'])
  for (const device of [unheard, expired, other])
    expect(await alertsOf(account, device)).toEqual([])
})

test('a refused or late report is contact too', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createRule(account, { when: { type: 'silent', minutes: 60 } })
  await report(account, device)
  await setBack(account, device, 90)
  await account.call('POST', `/api/devices/${device}/locations`, {
    body: {
      dateTime: new Date(Date.now() - 5 * 86_400_000).toISOString(),
      latitude: 1,
      longitude: 2,
    },
  })
  await run()
  expect(await alertsOf(account, device)).toEqual([])
})
