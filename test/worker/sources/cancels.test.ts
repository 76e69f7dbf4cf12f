import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { garminEvent, garminPush, makeSource, type TestSource } from '../../support/sources.ts'
import { createUser } from '../../support/users.ts'

/* Who may end an emergency by a network's cancellation, and move a device's commands. */

const IMEI = '300434068000001'
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const sos = (time: number) => garminPush([garminEvent(IMEI, time, { messageCode: 4 })])
const cancel = (time: number) => garminPush([garminEvent(IMEI, time, { messageCode: 7 })])
const spot = (type: string, time: number) => ({
  contentType: 'text/xml',
  body: `<messageList><message><id>${time}${type}</id><esn>${IMEI}</esn>
    <messageType>${type}</messageType><timeInGMTSecond>${Math.floor(time / 1000)}</timeInGMTSecond>
    </message></messageList>`,
})
const alertsOf = async (account: TestAccount) =>
  (await account.call('GET', '/api/alerts')).body.alerts
const cancelledOf = async (account: TestAccount): Promise<boolean[]> =>
  (await alertsOf(account)).map(({ cancelled }: { cancelled: boolean }) => cancelled)

const openWithDevice = async () => {
  const account = await openAccount()
  const id = await createDevice(account, { identifier: IMEI })
  return { account, id, garmin: await makeSource(account, 'garmin') }
}

const logOf = async (account: TestAccount, alertId: string) =>
  (await account.call('GET', `/api/alerts/${alertId}`)).body.alert.log
const NOTE = 'The tracker sent a cancellation.'

test('a source cancels what it has raised and joined alone', async () => {
  const { account, garmin } = await openWithDevice()
  for (const minutes of [9, 8]) await garmin.push(sos(minutesAgo(minutes)))
  await garmin.push(cancel(minutesAgo(5)))
  expect(await cancelledOf(account)).toEqual([true])
  expect(await readEvents(account, 'alert.cancelled')).toMatchObject([{ cancelledBy: garmin.id }])
})

test('a source that joins an emergency neither cancels it nor lets it be cancelled', async () => {
  const { account, garmin } = await openWithDevice()
  const other = await makeSource(account, 'spot')
  await garmin.push(sos(minutesAgo(9)))
  expect((await other.push(spot('HELP-CANCEL', minutesAgo(5)))).status).toBe(200)
  await other.push(spot('HELP', minutesAgo(4)))
  for (const minutes of [3.5, 3]) await other.push(spot('HELP-CANCEL', minutesAgo(minutes)))
  for (const minutes of [2.5, 2]) await garmin.push(cancel(minutesAgo(minutes)))
  const [alert, ...others] = await alertsOf(account)
  expect(others).toEqual([])
  expect(alert.state).toBe('open')
  expect(await logOf(account, alert.id)).toMatchObject([
    { action: 'raised', by: garmin.id },
    { action: 'undelivered' },
    { action: 'joined', by: other.id },
    { action: 'noted', by: other.id, text: NOTE },
    { action: 'noted', by: garmin.id, text: NOTE },
  ])
  expect(await readEvents(account, 'alert.noted')).toHaveLength(2)
  // People have all of their notes left.
  const notes = env.DB.prepare('SELECT notes FROM alerts WHERE id = ?').bind(alert.id)
  expect(await notes.first('notes')).toBe(0)
})

test.each([
  ['at another time', false],
  ['at the same time', true],
])('a source does not cancel what the API raises too, %s', async (_, isSameTime) => {
  const { account, id, garmin } = await openWithDevice()
  const time = minutesAgo(9)
  await garmin.push(sos(time))
  const dateTime = isSameTime ? { dateTime: new Date(time).toISOString() } : {}
  await raiseAlert(account, id, { alertName: 'SOSButton', ...dateTime })
  await garmin.push(cancel(minutesAgo(0)))
  const [alert, ...others] = await alertsOf(account)
  expect([alert.state, others]).toEqual(['open', []])
  expect((await logOf(account, alert.id)).at(-1)).toMatchObject({ action: 'noted', text: NOTE })
})

test('no source cancels what the API has raised, nor one of another account', async () => {
  const { account, id, garmin } = await openWithDevice()
  const { body } = await raiseAlert(account, id, { alertName: 'SOSButton' })
  const stranger = await makeSource(await openAccount(), 'garmin')
  for (const source of [garmin, stranger])
    expect((await source.push(cancel(Date.now()))).status).toBe(200)
  expect(await cancelledOf(account)).toEqual([false])
  await account.call('POST', `/api/alerts/${body.alert.id}/cancel`)
  expect(await cancelledOf(account)).toEqual([true])
})

test('only the open one is cancelled, and those who were told of it alone get a message', async () => {
  const { account, garmin } = await openWithDevice()
  await createUser(account)
  await garmin.push(sos(minutesAgo(200)))
  const [handled] = await alertsOf(account)
  await account.call('POST', `/api/alerts/${handled.id}/acknowledge`)
  await garmin.push(sos(minutesAgo(9)))
  // Nobody is told that a message which never went out is void.
  await waitUntilSent(account)
  const [cancelled, again] = [cancel(minutesAgo(2)), cancel(minutesAgo(1))]
  for (let n = 0; n < 2; n++) await garmin.push(cancelled)
  expect(await cancelledOf(account)).toEqual([true, false])
  expect(await readEvents(account, 'alert.cancelled')).toMatchObject([{ notices: 1 }])
  // Nothing is open any more: what is not over gets a note, once.
  for (let n = 0; n < 2; n++) await garmin.push(again)
  expect(await cancelledOf(account)).toEqual([true, false])
  const { alert } = (await account.call('GET', `/api/alerts/${handled.id}`)).body
  expect(alert.state).toBe('acknowledged')
  expect(alert.log).toMatchObject([
    { action: 'raised', by: garmin.id },
    { action: 'acknowledged' },
    { action: 'noted', by: garmin.id },
  ])
})

test('one that finds only what is of long ago waits for its own SOS', async () => {
  const { account, garmin } = await openWithDevice()
  await garmin.push(sos(minutesAgo(200)))
  const [handled] = await alertsOf(account)
  await account.call('POST', `/api/alerts/${handled.id}/acknowledge`)
  await garmin.push(cancel(minutesAgo(1)))
  await garmin.push(sos(minutesAgo(1.5)))
  expect(await cancelledOf(account)).toEqual([true, false])
})

test('a cancellation that comes before its SOS is remembered; a later press is raised', async () => {
  const { account, garmin } = await openWithDevice()
  await createUser(account)
  await garmin.push(cancel(minutesAgo(5)))
  await garmin.push(sos(minutesAgo(6)))
  const [alert] = await alertsOf(account)
  expect(alert).toMatchObject({ emergency: true, cancelled: true, deliveries: [] })
  expect(await readEvents(account, 'alert.undelivered')).toEqual([])
  await garmin.push(sos(minutesAgo(4)))
  expect(await cancelledOf(account)).toEqual([false, true])
})

test('a cancellation that comes before its SOS is of its source and its device alone', async () => {
  const { account, garmin } = await openWithDevice()
  const other = await makeSource(account, 'spot')
  await createDevice(account, { identifier: 'another' })
  await other.push(spot('HELP-CANCEL', minutesAgo(5)))
  await garmin.push(sos(minutesAgo(6)))
  await garmin.push(garminPush([garminEvent('another', minutesAgo(6), { messageCode: 4 })]))
  expect(await cancelledOf(account)).toEqual([false, false])
})

test('one that has ended an emergency ends no press of a clock that went back', async () => {
  const { account, garmin } = await openWithDevice()
  await garmin.push(sos(minutesAgo(9)))
  await garmin.push(cancel(minutesAgo(5)))
  await garmin.push(sos(minutesAgo(8)))
  expect(await cancelledOf(account)).toEqual([false, true])
})

test.each(['resolve', 'cancel'])(
  'one that comes after a person’s %s waits for nothing',
  async (step) => {
    const { account, garmin } = await openWithDevice()
    await garmin.push(sos(minutesAgo(9)))
    const [alert] = await alertsOf(account)
    await account.call('POST', `/api/alerts/${alert.id}/${step}`)
    await garmin.push(cancel(minutesAgo(5)))
    await garmin.push(sos(minutesAgo(8)))
    expect((await alertsOf(account))[0]).toMatchObject({ state: 'open' })
  },
)

test('one that is sent again with another time ends no press of a clock that went back', async () => {
  const { account, garmin } = await openWithDevice()
  await garmin.push(sos(minutesAgo(9)))
  for (const minutes of [5, 4]) await garmin.push(cancel(minutesAgo(minutes)))
  await garmin.push(sos(minutesAgo(8)))
  expect(await cancelledOf(account)).toEqual([false, true])
})

test('one that waits is of an SOS of the last hour', async () => {
  const { account, garmin } = await openWithDevice()
  await garmin.push(cancel(minutesAgo(5)))
  await garmin.push(sos(minutesAgo(70)))
  expect(await cancelledOf(account)).toEqual([false])
})

test('one that waits is of all presses of one push, and of none after', async () => {
  const { account, garmin } = await openWithDevice()
  await garmin.push(cancel(minutesAgo(5)))
  const pressed = (minutes: number) => garminEvent(IMEI, minutesAgo(minutes), { messageCode: 4 })
  await garmin.push(garminPush([pressed(8), pressed(7)]))
  expect(await cancelledOf(account)).toEqual([true, true])
  await garmin.push(garminPush([pressed(6)]))
  expect(await cancelledOf(account)).toEqual([false, true, true])
})

test.each([1, 2, 3])(
  'SOS and cancellation at once end cancelled, in either order (%i)',
  async () => {
    const { account, garmin } = await openWithDevice()
    const press = sos(minutesAgo(6))
    const pushes = [press, cancel(minutesAgo(5)), press]
    const replies = await Promise.all(pushes.map((push) => garmin.push(push)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await cancelledOf(account)).toEqual([true])
    expect(await readEvents(account, 'alert.cancelled')).toHaveLength(1)
  },
)

test('the source that takes a device’s commands changes within its provider alone', async () => {
  const { account, id, garmin } = await openWithDevice()
  const path = `/api/devices/${id}/commandChannel`
  const sourceOf = async () => (await account.call('GET', path)).body.sourceId
  const report = ({ push }: TestSource, time: number) => push(garminPush([garminEvent(IMEI, time)]))
  expect(await sourceOf()).toBeNull()
  await report(garmin, minutesAgo(9))
  expect(await sourceOf()).toBe(garmin.id)
  const spotSource = await makeSource(account, 'spot')
  await spotSource.push(spot('OK', minutesAgo(8)))
  expect(await sourceOf()).toBe(garmin.id)
  const second = await makeSource(account, 'garmin')
  await report(second, minutesAgo(7))
  expect(await sourceOf()).toBe(second.id)
  const choose = (caller: TestAccount, sourceId: string) =>
    caller.call('PUT', path, { body: { sourceId } })
  expect((await choose(account, spotSource.id)).body.sourceId).toBe(spotSource.id)
  await report(second, minutesAgo(6.5))
  expect(await sourceOf()).toBe(spotSource.id)
  const stranger = await openAccount()
  expect((await stranger.call('GET', path)).status).toBe(404)
  expect((await choose(stranger, (await makeSource(stranger, 'garmin')).id)).status).toBe(404)
  expect((await choose(account, (await makeSource(stranger, 'garmin')).id)).status).toBe(404)
  await choose(account, second.id)
  // An administrator has deleted it: the device is free to report another way.
  await account.call('DELETE', `/api/sources/${second.id}`)
  await spotSource.push(spot('OK', minutesAgo(6)))
  expect(await sourceOf()).toBe(spotSource.id)
})
