import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { writeMarks } from '../../../src/db/queries/rules/silence.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'
import { createRule } from '../../support/zones.ts'
import { recordCell } from '../db/recordedCell.ts'

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
  await eventually(async () => {
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

test('a device that falls silent is reported once, and once when it returns', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createRule(account, { when: { type: 'silent', minutes: 60 } })
  await createRule(account, { when: { type: 'returns' } })
  await report(account, device)
  await run()
  expect(await alertsOf(account, device)).toEqual([])
  await setBack(account, device, 61)
  await run()
  // A second run, and one at the same time, report nothing more.
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

test('a device that is silent when the rule is made is reported once', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await report(account, device)
  await setBack(account, device, 90)
  const rule = await createRule(account, { when: { type: 'silent', minutes: 60 } })
  const edit = async (body: object) => {
    expect((await account.call('PATCH', `/api/rules/${rule}`, { body })).status).toBe(200)
    await run()
    await run()
    return alertsOf(account, device)
  }
  await run()
  expect(await alertsOf(account, device)).toEqual(['Offline'])
  expect(await edit({ name: 'Other', text: 'Silent' })).toEqual(['Offline'])
  expect(await edit({ when: { type: 'silent', minutes: 50 } })).toEqual(['Offline', 'Offline'])
  // A rule of before `conditionChanged` says nothing of silences before its last change.
  const old = await createRule(account, { when: { type: 'silent', minutes: 45 } })
  await env.DB.prepare(
    "UPDATE rules SET record = json_remove(record, '$.conditionChanged') WHERE id = ?",
  )
    .bind(old)
    .run()
  await run()
  expect(await alertsOf(account, device)).toHaveLength(2)
})

test('devices that never called, have expired, or are not of the rule are not silent', async () => {
  const account = await openAccount()
  const [neverSeen, expired, other, own] = [
    await createDevice(account),
    await createDevice(account),
    await createDevice(account),
    await createDevice(account),
  ]
  await createRule(account, {
    when: { type: 'silent', minutes: 60 },
    devices: [neverSeen, expired, own],
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
  for (const device of [neverSeen, expired, other])
    expect(await alertsOf(account, device)).toEqual([])
})

test('devices of a disabled account, which cannot report, are not silent', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createRule(account, { when: { type: 'silent', minutes: 60 } })
  await report(account, device)
  await setBack(account, device, 61)
  const setDisabled = (disabled: boolean) =>
    callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled } })
  await setDisabled(true)
  await run()
  await setDisabled(false)
  expect(await alertsOf(account, device)).toEqual([])
  await run()
  expect(await alertsOf(account, device)).toEqual(['Offline'])
})

test('only one run reports, and not by a rule that has changed since', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const rule = await createRule(account, { when: { type: 'silent', minutes: 60 } })
  const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?').bind(device).first('key')
  const common = { ruleId: rule, deviceKey: Number(key), accountId: account.id, contact: 1 }
  const write = async (kind: 'silences' | 'returns', ruleVersion: number, id: string) => {
    const raises = [{ deviceId: device, alert: { id } }] as never
    const part = { kind, changes: [{ ...common, ruleVersion, raises }] }
    return [...(await writeMarks(openCell(env, 0), part, Date.now()))]
  }
  await account.call('PATCH', `/api/rules/${rule}`, { body: { name: 'Other' } })
  expect(await write('silences', 1, 'alr_outdated')).toEqual([])
  expect(await write('silences', 2, 'alr_silent')).toEqual(['alr_silent'])
  expect(await write('silences', 2, 'alr_again')).toEqual([])
  // Two runs that saw different contacts have different ids.
  expect(await write('returns', 2, 'alr_back')).toEqual(['alr_back'])
  expect(await write('returns', 2, 'alr_other')).toEqual([])
  await account.call('DELETE', `/api/rules/${rule}`)
  expect(await write('silences', 2, 'alr_deleted')).toEqual([])
  await env.DB.prepare('DELETE FROM pending_raises WHERE account_id = ?').bind(account.id).run()
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

test('every account gets its turn, whatever others have', async () => {
  const { readWatchedAccounts } = await import('../../../src/sweep/silence/watchedAccounts.ts')
  const { openCell } = await import('../../../src/db/open.ts')
  await env.DB.prepare('DELETE FROM rules').run()
  // Accounts before the last have more rules than are read at once.
  const others = await Promise.all(Array.from({ length: 3 }, () => openAccount()))
  const last = await openAccount()
  const device = await createDevice(last)
  await createRule(last, { when: { type: 'silent', minutes: 60 } })
  await report(last, device)
  await setBack(last, device, 90)
  const record = await env.DB.prepare('SELECT record FROM rules').first('record')
  for (const { id } of others)
    await env.DB.prepare(
      `INSERT INTO rules (id, account_id, enabled, type, record, creation, last_modified, version)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
      SELECT ?1 || i, ?1, 1, 'silent', ?2, 1, 1, 1 FROM n`,
    )
      .bind(id, record)
      .run()
  const first = await readWatchedAccounts(openCell(env, 0), 0)
  expect(first.accounts).toHaveLength(2)
  const second = await readWatchedAccounts(openCell(env, 0), first.lastKey)
  expect(second.accounts.map(({ id }) => id)).toEqual([others[2]?.id, last.id])
  expect(second.lastKey).toBe(0)
  await run()
  expect(await alertsOf(last, device)).toEqual(['Offline'])
})

test('a rule for one device reads no row of the others', async () => {
  const { readContactedDevices } = await import('../../../src/db/queries/rules/silence.ts')
  const { openCell } = await import('../../../src/db/open.ts')
  const account = await openAccount({ licenses: 40 })
  const devices = await Promise.all(Array.from({ length: 40 }, () => createDevice(account)))
  const batches: D1Result[] = []
  const client = new Proxy(env.DB, {
    get: (db, name) =>
      name === 'prepare'
        ? (text: string) => ({
            bind: (...values: unknown[]) => ({
              all: async () => {
                const result = await db
                  .prepare(text)
                  .bind(...values)
                  .all()
                batches.push(result)
                return result
              },
            }),
          })
        : Reflect.get(db, name),
  })
  const rows = await readContactedDevices(openCell({ ...env, DB: client }, 0), {
    ranges: [],
    deviceIds: [devices[4] ?? ''],
    groupIds: [],
    after: 0,
    limit: 100,
  })
  expect(rows.map(({ id }) => id)).toEqual([devices[4]])
  expect(batches[0]?.meta.rows_read).toBeLessThan(12)
})

test('however many devices fall silent at once, and whatever the text, all are reported', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const text = 'é'.repeat(2000)
  await createRule(account, { when: { type: 'silent', minutes: 60 }, text })
  await report(account, device)
  await setBack(account, device, 90)
  const columns = `account_id, name, name_key, description, min, model, tags, expires,
    daily_email_limit, daily_sms_limit, creation, last_modified, version, seq`
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO devices (key, id, last_contact, ${columns})
      SELECT key + i, id || i, ?1, ${columns} FROM n, devices WHERE id = ?2`,
  )
    .bind(Date.now() - 90 * MINUTE, device)
    .run()
  const { DB, statements } = recordCell()
  await sweep({ ...env, DB } as never, Date.now())
  const silences = await env.DB.prepare(
    'SELECT count(*) AS n FROM silent_marks WHERE account_id = ?',
  )
    .bind(account.id)
    .first('n')
  expect(silences).toBe(501)
  // D1 takes values of up to 2 MB.
  const lengths = statements.flatMap(({ values }) =>
    values.map((value) => new TextEncoder().encode(String(value)).length),
  )
  expect(Math.max(...lengths)).toBeLessThan(2_000_000)
}, 60_000)
