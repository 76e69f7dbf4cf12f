import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { nextClockTime } from '../../../src/domain/time/schedule.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import {
  copyWatch,
  createWatch,
  inMinutes,
  MINUTE,
  readWatch,
} from '../../support/alerts/watches.ts'
import { callWithBindings, failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'
import { iso } from '../../support/time.ts'

/* A device checks in by what is written on it, or by its button for “all is well”. */

const HOUR = 60 * MINUTE
const IMEI = '300434069000001'

const text = (freeText: string, at = Date.now()) =>
  garminPush([garminEvent(IMEI, at, { messageCode: 3, freeText })])
const code = (messageCode: number, at = Date.now()) =>
  garminPush([garminEvent(IMEI, at, { messageCode })])
const spotOk = (at: number) => ({
  contentType: 'text/xml',
  body: `<messageList><message><id>${at}</id><esn>${IMEI}</esn><messageType>OK</messageType>
    <timestamp>${iso(at)}</timestamp></message></messageList>`,
})

const open = async (options: { timeZone?: string } = {}) => {
  const account = await openAccount(options)
  const device = await createDevice(account, { identifier: IMEI })
  return { account, device, garmin: await makeSource(account, 'garmin') }
}

const checkInsOf = (account: TestAccount) => readEvents(account, 'watch.checkedIn')
const inHours = (hours: number) => inMinutes(60 * hours)
/** All of the account, in the order in which they were created. */
const readWatches = async (account: TestAccount) =>
  (await account.call('GET', '/api/watches')).body.watches
const answersOf = async (account: TestAccount, device: string) =>
  (await account.call('GET', `/api/devices/${device}/commands`)).body.commands.map(
    ({ answer }: { answer: string | null }) => answer,
  )

describe('a check-in', () => {
  test('by CHECK-IN completes a deadline, once though the push is repeated', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { due: inHours(3), counts: 'checkIn' })
    const push = text('check in')
    const replies = await Promise.all([garmin.push(push), garmin.push(push)])
    replies.push(await garmin.push(push))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await readWatch(account, id)).toMatchObject({ state: 'completed' })
    expect(await checkInsOf(account)).toMatchObject([{ watchId: id, counts: 'checkIn' }])
    expect(await answersOf(account, device)).toEqual(['Checked in.'])
  })

  test.each([
    ['the text CHECK-IN', text('CHECK-IN'), [true, true]],
    ['the text OK', text('OK'), [true, false]],
    ['a code', code(15), [true, false]],
    ['another text', text('All is well here'), [false, false]],
    ['another code', code(17), [false, false]],
  ])('by %s counts where it is enough', async (_, { contentType, body }, expected) => {
    const { account, device, garmin } = await open()
    const ids = []
    for (const counts of ['message', 'checkIn'])
      ids.push((await createWatch(account, device, { counts })).id)
    // Now: later than the start of the watches.
    const at = Date.now()
    await garmin.push({ contentType, body: body.replace(/"timeStamp":\d+/, `"timeStamp":${at}`) })
    const found = await Promise.all(ids.map((id) => readWatch(account, id)))
    expect(found.map(({ lastCheckIn }) => lastCheckIn === iso(at))).toEqual(expected)
  })

  test('to hundreds of watches takes a few queries, so that the push does not fail', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { due: inHours(3), counts: 'message' })
    await copyWatch(id, 449)
    const { db, runs } = failExecutions(env.DB, { pattern: /UPDATE "watches"/, times: 0 })
    const body = JSON.parse(text('OK').body)
    const path = new URL(garmin.url).pathname
    const { status } = await callWithBindings({ DB: db }, 'POST', path, { body })
    expect([status, runs()]).toEqual([200, 3])
    const { n } = (await env.DB.prepare(
      "SELECT count(*) AS n FROM watches WHERE account_id = ? AND state = 'completed'",
    )
      .bind(account.id)
      .first<{ n: number }>()) ?? { n: 0 }
    expect(n).toBe(450)
  })

  test('by SPOT’s OK sets an interval going again, from its own time', async () => {
    const { account, device } = await open()
    const spot = await makeSource(account, 'spot')
    const { id } = await createWatch(account, device, { counts: 'message', everyMinutes: 360 })
    await env.DB.prepare('UPDATE watches SET since = since - ?1, next_due = next_due - ?1')
      .bind(HOUR)
      .run()
    const at = Date.now() - 10 * MINUTE
    for (let n = 0; n < 3; n++) expect((await spot.push(spotOk(at))).status).toBe(200)
    expect(await readWatch(account, id)).toMatchObject({
      state: 'active',
      lastCheckIn: iso(at),
      nextDue: iso(at + 6 * HOUR),
    })
    // An older one that arrives later changes nothing.
    await spot.push(spotOk(at - MINUTE))
    expect(await readWatch(account, id)).toMatchObject({ lastCheckIn: iso(at) })
    expect(await checkInsOf(account)).toHaveLength(1)
  })

  test('from before the watch or its extension counts for nothing', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { due: inHours(3), counts: 'message' })
    await garmin.push(text('CHECK-IN', Date.now() - HOUR))
    await garmin.push(code(14, Date.now() - HOUR))
    const before = Date.now()
    const body = { due: inHours(9) }
    await account.call('POST', `/api/watches/${id}/extend`, { body })
    await garmin.push(text('OK', before - 1))
    await garmin.push(text('CHECK-IN 1H', before - 1))
    await garmin.push(text('CHECK-IN EVERY 6H', Date.now() - 25 * HOUR))
    expect(await readWatches(account)).toMatchObject([
      { id, state: 'active', lastCheckIn: null, nextDue: body.due },
    ])
    expect(await checkInsOf(account)).toEqual([])
  })

  test('of a person counts though the device that started the watch is ahead', async () => {
    const { account, garmin } = await open()
    await garmin.push(text('CHECK-IN 30M', Date.now() + 9 * MINUTE))
    const [{ id }] = await readWatches(account)
    const { body } = await account.call('POST', `/api/watches/${id}/checkIn`)
    expect(body.watch.state).toBe('completed')
  })

  test('with a clock of the future counts at its arrival, once', async () => {
    const { account, device, garmin } = await open()
    for (const ahead of [2 * HOUR, 400 * 24 * HOUR]) {
      const { id } = await createWatch(account, device, { counts: 'message' })
      const push = code(16, Date.now() + ahead)
      const before = Date.now()
      for (let n = 0; n < 2; n++) expect((await garmin.push(push)).status).toBe(200)
      const { lastCheckIn, nextDue } = await readWatch(account, id)
      expect(Date.parse(lastCheckIn)).toBeGreaterThanOrEqual(before)
      expect(Date.parse(lastCheckIn)).toBeLessThanOrEqual(Date.now())
      expect(Date.parse(nextDue) - Date.parse(lastCheckIn)).toBe(HOUR)
      const found = (await checkInsOf(account)).filter(
        (event) => 'watchId' in event && event.watchId === id,
      )
      expect(found).toHaveLength(1)
      await account.call('DELETE', `/api/watches/${id}`)
    }
  })

  test('that comes after the alert and the next deadline raises no second one', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { counts: 'message' })
    const start = Date.now() - 5 * HOUR
    await env.DB.prepare(
      "UPDATE watches SET since = ?1, next_due = ?2, state = 'overdue' WHERE id = ?3",
    )
      .bind(start, start + HOUR, id)
      .run()
    await garmin.push(code(14, start + 2 * HOUR))
    expect(await readWatch(account, id)).toMatchObject({
      state: 'overdue',
      lastCheckIn: iso(start + 2 * HOUR),
      nextDue: iso(start + 3 * HOUR),
    })
    await garmin.push(code(14, start + 5 * HOUR - MINUTE))
    expect(await readWatch(account, id)).toMatchObject({ state: 'active' })
  })

  test('by a button is listed as a message where the device has a watch', async () => {
    const { account, device, garmin } = await open()
    await garmin.push(code(14))
    expect(await answersOf(account, device)).toEqual([])
    await createWatch(account, device, { counts: 'message' })
    await garmin.push(code(14))
    expect(await answersOf(account, device)).toEqual(['Checked in.'])
  })

  test('that waited to be claimed counts at its own time', async () => {
    const account = await openAccount()
    const garmin = await makeSource(account, 'garmin')
    const device = await createDevice(account)
    const { id } = await createWatch(account, device, { counts: 'message' })
    const at = Date.now()
    await garmin.push(text('OK', at))
    const path = `/api/sources/${garmin.id}/unclaimed/${IMEI}/claim`
    const { status } = await account.call('POST', path, { body: { deviceId: device } })
    expect(status).toBe(200)
    expect(await readWatch(account, id)).toMatchObject({ lastCheckIn: iso(at) })
  })

  test('changes no watch of another account or device, and none that has ended', async () => {
    const { account, device, garmin } = await open()
    const foreign = await open()
    const other = await createDevice(account, 'Other')
    const [theirs, others, ended] = [
      await createWatch(foreign.account, foreign.device, { counts: 'message' }),
      await createWatch(account, other, { counts: 'message' }),
      await createWatch(account, device, { counts: 'message' }),
    ]
    await account.call('POST', `/api/watches/${ended.id}/cancel`)
    for (const said of ['CHECK-IN', 'CHECK-IN END']) await garmin.push(text(said))
    expect(await readWatch(foreign.account, theirs.id)).toMatchObject({
      state: 'active',
      lastCheckIn: null,
    })
    expect(await readWatch(account, others.id)).toMatchObject({
      state: 'active',
      lastCheckIn: null,
    })
    expect(await readWatch(account, ended.id)).toMatchObject({
      state: 'cancelled',
      lastCheckIn: null,
    })
    expect(await answersOf(account, device)).toEqual([null, null])
  })

  test('that could not be recorded is recorded by the repeat of the push', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { due: inHours(3), counts: 'message' })
    const push = text('OK')
    const { db } = failExecutions(env.DB, { pattern: /UPDATE "watches"/, times: 8 })
    const path = new URL(garmin.url).pathname
    const lost = await callWithBindings({ DB: db }, 'POST', path, { body: JSON.parse(push.body) })
    expect(lost.status).toBeGreaterThanOrEqual(500)
    expect(await readWatch(account, id)).toMatchObject({ state: 'active' })
    // The source that is remembered has the database that fails.
    const statuses: number[] = []
    for (let n = 0; n < 8 && !statuses.includes(200); n++)
      statuses.push((await garmin.push(push)).status)
    expect(statuses.at(-1)).toBe(200)
    expect(await readWatch(account, id)).toMatchObject({ state: 'completed' })
    expect(await readEvents(account, 'message.received')).toHaveLength(1)
  })
})

describe('a text of the device', () => {
  test('moves the deadline that comes first, and not back by a repeat', async () => {
    const { account, device, garmin } = await open()
    const later = await createWatch(account, device, { due: inHours(9), counts: 'message' })
    const first = await createWatch(account, device, { due: inHours(3), counts: 'message' })
    const at = Date.now()
    await garmin.push(text('CHECK-IN 4H', at))
    expect(await readWatch(account, first.id)).toMatchObject({
      state: 'active',
      nextDue: iso(at + 4 * HOUR),
    })
    const due = inHours(8)
    await account.call('POST', `/api/watches/${first.id}/extend`, { body: { due } })
    await garmin.push(text('CHECK-IN 4H', at))
    expect(await readWatch(account, first.id)).toMatchObject({ nextDue: due })
    expect(await readWatch(account, later.id)).toMatchObject({ nextDue: later.nextDue })
    expect(await readWatches(account)).toHaveLength(2)
  })

  test('starts a watch with a deadline, once, in the account’s time zone', async () => {
    const { account, device, garmin } = await open({ timeZone: 'America/Los_Angeles' })
    const at = Date.now()
    const push = text('CHECK-IN 18:00', at)
    await Promise.all([garmin.push(push), garmin.push(push)])
    await garmin.push(push)
    const due = iso(nextClockTime('18:00', at, 'America/Los_Angeles'))
    expect(await readWatches(account)).toMatchObject([
      {
        deviceId: device,
        due,
        nextDue: due,
        counts: 'message',
        alertName: 'MissedCheckIn',
        emergency: false,
        state: 'active',
      },
    ])
    expect((await answersOf(account, device))[0]).toMatch(/^A watch was started/)
    await garmin.push(text('CHECK-IN'))
    expect(await readWatches(account)).toMatchObject([{ state: 'completed' }])
  })

  test('starts an emergency where the account says that missed check-ins are', async () => {
    const { account, garmin } = await open()
    const body = { emergencyAlerts: ['SOSButton', 'MissedCheckIn'] }
    expect((await account.call('PATCH', '/api/account', { body })).status).toBe(200)
    await garmin.push(text('CHECK-IN 90M'))
    expect(await readWatches(account)).toMatchObject([{ emergency: true }])
  })

  test('starts an interval, checks in to it and ends all of its watches', async () => {
    const { account, device, garmin } = await open()
    const at = Date.now()
    await garmin.push(text('CHECK-IN EVERY 2H', at - MINUTE))
    await garmin.push(text('CHECK-IN EVERY 2H', at))
    expect(await readWatches(account)).toMatchObject([
      { everyMinutes: 120, lastCheckIn: iso(at), nextDue: iso(at + 2 * HOUR) },
    ])
    await createWatch(account, device, { due: inHours(9), counts: 'checkIn' })
    await garmin.push(text('CHECK-IN END'))
    const found = await readWatches(account)
    expect(found.map(({ state }: { state: string }) => state)).toEqual(['completed', 'completed'])
  })

  test('that came after its deadline, or is not understood, changes nothing', async () => {
    const { account, device, garmin } = await open()
    const { id, nextDue } = await createWatch(account, device, {
      due: inHours(3),
      counts: 'message',
    })
    await env.DB.prepare('UPDATE watches SET since = 0 WHERE id = ?').bind(id).run()
    await garmin.push(text('CHECK-IN 1H', Date.now() - 2 * HOUR))
    await garmin.push(text('CHECK-IN tomorrow'))
    expect(await readWatches(account)).toMatchObject([{ state: 'active', nextDue }])
    expect(await answersOf(account, device)).toEqual([null, null])
  })

  test('with a check-in code counts as what it says', async () => {
    const { account, device, garmin } = await open()
    const { id } = await createWatch(account, device, { due: inHours(3), counts: 'message' })
    const at = Date.now()
    const said = { messageCode: 14, freeText: 'CHECK-IN 5H' }
    await garmin.push(garminPush([garminEvent(IMEI, at, said)]))
    expect(await readWatch(account, id)).toMatchObject({
      state: 'active',
      nextDue: iso(at + 5 * HOUR),
    })
  })
})

test('decode shows a check-in as the report that it is', async () => {
  const account = await openAccount()
  const { contentType, body } = spotOk(1_780_000_000_000)
  const shown = await account.call('POST', '/api/sources/decode', {
    body: { provider: 'spot', contentType, body },
  })
  expect(shown.body.items).toEqual([{ kind: 'none', identifier: IMEI, key: '1780000000000' }])
})
