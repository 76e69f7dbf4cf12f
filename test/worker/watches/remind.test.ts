import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import type { Env } from '../../../src/env.ts'
import { findRunning } from '../../../src/watches/progress.ts'
import { remindDevice } from '../../../src/watches/remind.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { alertsOf, createWatch, sweepIn } from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'

/* The reminder of a check-in, by the network of the device. */

const HOUR = 3_600_000
const GARMIN = { apiKey: 'ok', sender: 'ops@example.com' }

const REMINDER = /^Check-in due \d+ \w+, \d\d:\d\d (GMT|UTC)\S* Reply CHECK-IN\.$/

const run = { env: env as unknown as Env, cell: 0, now: Date.now() }

let count = 0
const newImei = () => `3004340650${String(++count).padStart(5, '0')}`

/** A watch of a device that has reported by a Garmin source with these settings. */
const start = async (settings: object, members: object = {}) => {
  const account = await openAccount()
  const imei = newImei()
  const device = await createDevice(account, { identifier: imei })
  const source = await makeSource(account, 'garmin', { settings })
  await source.push(garminPush([garminEvent(imei, Date.now())]))
  const given = { counts: 'message', remindMinutes: 30, ...members }
  await createWatch(account, device, given)
  return { account, device, imei, watch: await watchOf(account, device) }
}

const watchOf = async (account: TestAccount, device: string) => {
  const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?').bind(device).first('key')
  const [watch] = await findRunning(openCell(run.env, 0), account.id, Number(key))
  if (!watch) throw new Error('no watch')
  return watch
}

const callsFor = async (imei: string) =>
  (await (await fetch(`https://receiver.example/${imei}`)).json()) as { body: string }[]
const commandsOf = async (account: TestAccount, device: string) =>
  (await account.call('GET', `/api/devices/${device}/commands`)).body.commands

describe('a reminder', () => {
  test('is one command for each deadline, however often it is asked for', async () => {
    const { account, device, imei, watch } = await start(GARMIN)
    await Promise.all([remindDevice(run, watch), remindDevice(run, watch)])
    await remindDevice(run, watch)
    const calls = await callsFor(imei)
    expect(calls).toHaveLength(1)
    expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({
      Messages: [{ Recipients: [imei], Message: expect.stringMatching(REMINDER) }],
    })
    expect(await commandsOf(account, device)).toMatchObject([
      { status: 'sent', format: 'Text', sms: false, received: false },
    ])
    // Another watch with the same deadline has no command of its own.
    await remindDevice(run, { ...watch, id: 'wat_other' })
    expect(await callsFor(imei)).toHaveLength(1)
    await remindDevice(run, { ...watch, nextDue: watch.nextDue + HOUR })
    expect(await callsFor(imei)).toHaveLength(2)
  })

  test('that may have been accepted is not sent again', async () => {
    const { account, device, imei, watch } = await start({ ...GARMIN, apiKey: '500' })
    for (let n = 0; n < 2; n++) await remindDevice(run, watch)
    expect(await callsFor(imei)).toHaveLength(1)
    expect(await commandsOf(account, device)).toMatchObject([{ status: 'unknown' }])
  })

  test('comes with the sweep before the deadline, where one is wanted; then the alert', async () => {
    const { account, device, imei } = await start(GARMIN)
    await createWatch(account, device, { counts: 'message', alertName: 'NotReminded' })
    await sweepIn(29)
    expect(await callsFor(imei)).toEqual([])
    await sweepIn(31)
    expect(await callsFor(imei)).toHaveLength(1)
    expect(await alertsOf(account, device)).toEqual([])
    await sweepIn(61)
    expect((await alertsOf(account, device)).sort()).toEqual(['MissedCheckIn', 'NotReminded'])
    expect(await callsFor(imei)).toHaveLength(1)
  })

  test('is left out without a channel, by SMS too', async () => {
    const without = await start({})
    await remindDevice(run, without.watch)
    expect(await commandsOf(without.account, without.device)).toEqual([])
    const account = await openAccount()
    const phone = await createDevice(account, { min: '+351910000000' })
    await createWatch(account, phone, { remindMinutes: 30 })
    await remindDevice(run, await watchOf(account, phone))
    expect(await commandsOf(account, phone)).toEqual([])
  })
})
