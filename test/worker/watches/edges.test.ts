import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { eraseAccount, openAccount } from '../../support/accounts.ts'
import {
  alertsOf,
  createWatch,
  inMinutes,
  MINUTE,
  readWatch,
  report,
  sweepIn,
  watchEventsOf,
} from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'

test('an edit turns a deadline into an interval and back', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device, { due: inMinutes(60) })
  const patch = (body: object) => account.call('PATCH', `/api/watches/${id}`, { body })
  const both = await patch({ everyMinutes: 30 })
  expect([both.status, both.body.errors[0].pointer]).toEqual([400, '/due'])
  const interval = (await patch({ due: null, everyMinutes: 30 })).body.watch
  expect(interval).toMatchObject({ due: null, everyMinutes: 30, state: 'active' })
  expect(Date.parse(interval.nextDue)).toBeLessThan(Date.now() + 31 * MINUTE)
  const due = inMinutes(120)
  const deadline = (await patch({ due, everyMinutes: null })).body.watch
  expect(deadline).toMatchObject({ due, nextDue: due, everyMinutes: null })
  const neither = await patch({ due: null })
  expect([neither.status, neither.body.errors[0].pointer]).toEqual([400, '/due'])
  const past = await patch({ due: inMinutes(-1) })
  expect([past.status, past.body.errors[0].pointer]).toEqual([400, '/due'])
})

test.each([
  ['/due', { due: 1 }],
  ['/due', { due: '2099-03-03T18:00:00' }],
  ['/due', { due: '2099-02-30T18:00:00Z' }],
  ['/everyMinutes', { everyMinutes: '60' }],
  ['/everyMinutes', { everyMinutes: 1.5 }],
  ['/everyMinutes', { everyMinutes: 43_201 }],
  ['/graceMinutes', { graceMinutes: 10_081 }],
  ['/graceMinutes', { graceMinutes: 1e300 }],
  ['/remindMinutes', { remindMinutes: [] }],
  ['/emergency', { emergency: 'yes' }],
  ['/notifications', { notifications: 'Email' }],
  ['/notifications/0', { notifications: ['Fax'] }],
  ['/name', { name: ' ' }],
  ['/deviceId', { deviceId: 7 }],
])('a patch with a wrong %s is refused: %o', async (pointer, body) => {
  const account = await openAccount()
  const { id } = await createWatch(account, await createDevice(account))
  const before = await readWatch(account, id)
  const reply = await account.call('PATCH', `/api/watches/${id}`, { body })
  expect(reply.status).toBe(400)
  expect(reply.body.errors[0].pointer).toBe(pointer)
  expect(await readWatch(account, id)).toEqual(before)
})

test('the last deadline and the longest grace there are', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const far = { due: '9999-12-31T23:59:59.999Z', graceMinutes: 10_080 }
  const { id } = await createWatch(account, device, { ...far, counts: 'checkIn' })
  expect(await readWatch(account, id)).toMatchObject({ ...far, state: 'active' })
  await sweepIn(0)
  expect(await watchEventsOf(account)).toEqual([])
})

test('after hours without a sweep, an interval is missed once', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await createWatch(account, device, { everyMinutes: 10, counts: 'checkIn', remindMinutes: 5 })
  for (const minutes of [600, 601, 700]) await sweepIn(minutes)
  expect(await alertsOf(account, device)).toEqual(['MissedCheckIn'])
  expect(await watchEventsOf(account)).toEqual(['due', 'overdue'])
})

test('an old location is a contact when it arrives', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  await report(account, device)
  const { id } = await createWatch(account, device)
  const body = { dateTime: inMinutes(-600), latitude: 1, longitude: 2 }
  await account.call('POST', `/api/devices/${device}/locations`, { body })
  const { lastCheckIn, creation } = await readWatch(account, id)
  expect(lastCheckIn >= creation).toBe(true)
})

test('steps at the same time are taken one after the other', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device, { counts: 'checkIn' })
  const due = inMinutes(600)
  const replies = await Promise.all(
    ['checkIn', 'extend', 'complete', 'cancel', 'checkIn', 'extend', 'complete'].map((action) =>
      account.call('POST', `/api/watches/${id}/${action}`, {
        ...(action === 'extend' && { body: { due } }),
      }),
    ),
  )
  for (const { status, body } of replies)
    if (status !== 200) expect([status, body.code]).toEqual([409, 'watch-ended'])
  const ended = replies.filter(({ body }) => ['completed', 'cancelled'].includes(body.watch?.state))
  expect(ended).toHaveLength(1)
  expect((await readWatch(account, id)).state).toBe(ended[0]?.body.watch.state)
  const checkIns = replies.filter(({ status }, index) => status === 200 && index % 4 === 0)
  expect(await watchEventsOf(account)).toHaveLength(checkIns.length)
})

test('the watches of a deleted account raise nothing and are deleted', async () => {
  const account = await openAccount()
  await createWatch(account, await createDevice(account), { emergency: true })
  await eraseAccount(account)
  for (const minutes of [61, 62, 63]) await sweepIn(minutes)
  for (const table of ['watches', 'pending_raises', 'alerts', 'events']) {
    const left = await env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`)
      .bind(account.id)
      .first('n')
    expect([table, left]).toEqual([table, 0])
  }
})
