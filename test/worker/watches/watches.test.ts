import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { MAX_WATCHES } from '../../../src/domain/watch/watch.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import {
  copyWatch,
  createWatch,
  inMinutes,
  readWatch,
  report,
  watchEventsOf,
} from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { ORIGIN } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

const step = (account: TestAccount, id: string, action: string, body?: object) =>
  account.call('POST', `/api/watches/${id}/${action}`, body && { body })

test('a watch is created with a link, read, listed, replaced and deleted', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const created = await account.call('POST', '/api/watches', {
    body: { name: ' Crossing ', deviceId: device, due: '2099-03-03T19:00:00+01:00' },
  })
  expect(created.status).toBe(201)
  const { watch, url } = created.body
  expect(watch).toEqual({
    id: expect.stringMatching(/^wat_/),
    name: 'Crossing',
    deviceId: device,
    due: '2099-03-03T18:00:00.000Z',
    everyMinutes: null,
    graceMinutes: 0,
    counts: 'any',
    remindMinutes: null,
    alertName: 'MissedCheckIn',
    emergency: false,
    notifications: ['Email', 'SMS', 'Push', 'Voice'],
    state: 'active',
    nextDue: '2099-03-03T18:00:00.000Z',
    lastCheckIn: null,
    alertId: null,
    creation: expect.any(String),
    lastModified: watch.creation,
  })
  const path = `/api/watches/${watch.id}`
  expect(created.headers.get('Location')).toBe(path)
  expect(url).toMatch(new RegExp(`^${ORIGIN}/c/[0-9a-z]{16}$`))
  expect((await step(account, watch.id, 'link')).body).toEqual({ success: true, url })
  const read = await account.call('GET', path)
  expect(read.body).toEqual({ success: true, watch })
  const other = await createWatch(account, await createDevice(account))
  const list = async (query: string) =>
    (await account.call('GET', `/api/watches${query}`)).body.watches.map(
      ({ id }: { id: string }) => id,
    )
  expect(await list('')).toEqual([watch.id, other.id])
  expect(await list(`?deviceId=${device}`)).toEqual([watch.id])
  expect(await list('?state=overdue')).toEqual([])

  const sentBack = await account.call('PUT', path, { body: read.body })
  expect(sentBack.body.watch).toEqual({ ...watch, lastModified: expect.any(String) })
  const interval = { name: 'Rounds', deviceId: device, everyMinutes: 360, counts: 'message' }
  const replaced = (await account.call('PUT', path, { body: interval })).body.watch
  expect(replaced).toMatchObject({ ...interval, due: null, state: 'active' })
  expect(Date.parse(replaced.nextDue)).toBeGreaterThan(Date.now() + 350 * 60_000)
  expect((await account.call('DELETE', path)).body).toEqual({ success: true })
  expect((await account.call('GET', path)).body.code).toBe('watch-not-found')
})

test.each([
  ['/due', {}],
  ['/due', { due: '2099-01-01T00:00:00Z', everyMinutes: 60 }],
  ['/due', { due: '2020-01-01T00:00:00Z' }],
  ['/everyMinutes', { everyMinutes: 0 }],
  ['/graceMinutes', { everyMinutes: 60, graceMinutes: -1 }],
  ['/remindMinutes', { everyMinutes: 60, remindMinutes: 60 }],
  ['/counts', { everyMinutes: 60, counts: 'some' }],
  ['/deviceId', { everyMinutes: 60, deviceId: 'dev_unknown' }],
])('a watch with a wrong %s is refused: %o', async (pointer, body) => {
  const account = await openAccount()
  const deviceId = await createDevice(account)
  const reply = await account.call('POST', '/api/watches', {
    body: { name: 'Crossing', deviceId, ...body },
  })
  expect(reply.status).toBe(400)
  expect(reply.body.errors).toMatchObject([{ pointer }])
})

test('devices and watches of another account do not exist', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const device = await createDevice(other)
  const { id } = await createWatch(other, device)
  const reply = await account.call('POST', '/api/watches', {
    body: { name: 'Theirs', deviceId: device, everyMinutes: 60 },
  })
  expect(reply.body.errors).toMatchObject([{ pointer: '/deviceId' }])
  expect((await step(account, id, 'checkIn')).status).toBe(404)
  expect((await account.call('GET', '/api/watches')).body.watches).toEqual([])
})

test('check-in, extension, completion and cancellation; an ended watch takes none', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const watch = await createWatch(account, device, { counts: 'checkIn' })
  const checkedIn = await step(account, watch.id, 'checkIn')
  expect(checkedIn.status).toBe(200)
  expect(checkedIn.body.watch.state).toBe('active')
  expect(checkedIn.body.watch.lastCheckIn >= watch.creation).toBe(true)
  expect(checkedIn.body.watch.nextDue >= watch.nextDue).toBe(true)
  const due = inMinutes(600)
  expect((await step(account, watch.id, 'extend', { due })).body.watch).toMatchObject({
    nextDue: due,
    everyMinutes: 60,
    due: null,
  })
  const past = await step(account, watch.id, 'extend', { due: inMinutes(-1) })
  expect([past.status, past.body.errors[0].pointer]).toEqual([400, '/due'])
  expect((await step(account, watch.id, 'complete')).body.watch.state).toBe('completed')
  for (const action of ['checkIn', 'complete', 'cancel'])
    expect((await step(account, watch.id, action)).body.code).toBe('watch-ended')
  expect((await step(account, watch.id, 'extend', { due })).body.code).toBe('watch-ended')
  const path = `/api/watches/${watch.id}`
  const renamed = await account.call('PATCH', path, { body: { name: 'Done' } })
  expect(renamed.body.watch).toMatchObject({ name: 'Done', state: 'completed' })
  const restarted = await account.call('PATCH', path, { body: { everyMinutes: 30 } })
  expect([restarted.status, restarted.body.code]).toEqual([409, 'watch-ended'])
  const cancelled = await createWatch(account, device)
  expect((await step(account, cancelled.id, 'cancel')).body.watch.state).toBe('cancelled')
  expect(await watchEventsOf(account)).toEqual(['checkedIn'])
})

test('a check-in keeps a deadline, whose extension is its new `due`', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const watch = await createWatch(account, device, { due: inMinutes(60), counts: 'checkIn' })
  const due = inMinutes(120)
  const extended = (await step(account, watch.id, 'extend', { due })).body.watch
  expect(extended).toMatchObject({ due, nextDue: due })
  const sentBack = await account.call('PUT', `/api/watches/${watch.id}`, { body: extended })
  expect(sentBack.body.watch).toMatchObject({ due, nextDue: due, state: 'active' })
  expect((await step(account, watch.id, 'checkIn')).body.watch.state).toBe('completed')
})

test('edits and extensions move the version of the ETag, check-ins only the rest', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device, { counts: 'checkIn' })
  const path = `/api/watches/${id}`
  const tagOf = async () => (await account.call('GET', path)).headers.get('ETag') ?? ''
  const first = await tagOf()
  await step(account, id, 'checkIn')
  const second = await tagOf()
  expect(second).not.toBe(first)
  expect(second.split('.')[0]).toBe(first.split('.')[0])
  const patch = (tag: string, name: string) =>
    account.call('PATCH', path, { body: { name }, headers: { 'If-Match': tag } })
  expect((await patch(first, 'Other')).status).toBe(200)
  expect((await patch(first, 'Third')).status).toBe(412)
  const third = await tagOf()
  await step(account, id, 'extend', { due: inMinutes(600) })
  expect((await patch(third, 'Third')).status).toBe(412)
  const deletion = { headers: { 'If-Match': third } }
  expect((await account.call('DELETE', path, deletion)).status).toBe(412)
  expect((await readWatch(account, id)).lastCheckIn).not.toBeNull()
})

test('any contact is a check-in at once for readers, and edits keep it', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const watch = await createWatch(account, device)
  const strict = await createWatch(account, device, { counts: 'message' })
  const byDeadline = await createWatch(account, device, { due: inMinutes(60) })
  await report(account, device)
  const read = await readWatch(account, watch.id)
  expect(read.lastCheckIn).not.toBeNull()
  expect(read.nextDue > watch.nextDue).toBe(true)
  expect((await readWatch(account, strict.id)).lastCheckIn).toBeNull()
  expect((await readWatch(account, byDeadline.id)).state).toBe('completed')
  expect((await step(account, byDeadline.id, 'checkIn')).body.code).toBe('watch-ended')
  const list = await account.call('GET', '/api/watches?state=completed')
  expect(list.body.watches.map(({ id }: { id: string }) => id)).toEqual([byDeadline.id])
  const path = `/api/watches/${watch.id}`
  const edited = await account.call('PATCH', path, { body: { counts: 'message' } })
  const { lastCheckIn, nextDue } = read
  expect(edited.body.watch).toMatchObject({ counts: 'message', lastCheckIn, nextDue })
  expect(await watchEventsOf(account)).toEqual(['checkedIn'])
})

test('an Idempotency-Key makes one watch and one check-in', async () => {
  const account = await openAccount()
  const deviceId = await createDevice(account)
  const headers = { 'Idempotency-Key': 'k' }
  const body = { name: 'Crossing', deviceId, everyMinutes: 60 }
  const create = () => account.call('POST', '/api/watches', { body, headers })
  const [first, again] = [await create(), await create()]
  expect(again.body.watch).toEqual(first.body.watch)
  // As after a crash before the reply was stored: the watch is found again, with its link.
  await env.DB.prepare('UPDATE idempotency SET status = NULL, body = NULL WHERE account_id = ?')
    .bind(account.id)
    .run()
  vi.setSystemTime(Date.now() + 31_000)
  const retried = await create()
  vi.useRealTimers()
  expect([retried.status, retried.body.url]).toEqual([201, first.body.url])
  expect((await account.call('GET', '/api/watches')).body.watches).toHaveLength(1)
  const { id } = first.body.watch
  const checkIn = () =>
    account.call('POST', `/api/watches/${id}/checkIn`, { headers: { 'Idempotency-Key': 'c' } })
  const checkedIn = await checkIn()
  expect((await checkIn()).text).toBe(checkedIn.text)
  expect(await watchEventsOf(account)).toEqual(['checkedIn'])
})

test('a confined user sees and starts watches of its devices alone', async () => {
  const account = await openAccount()
  const [own, other] = [await createDevice(account), await createDevice(account)]
  await createGroup(account, { name: 'North', devices: [own] })
  const user = await createBoundUser(account, { group: 'North', privileges: ['read', 'write'] })
  const hidden = await createWatch(account, other)
  const visible = await createWatch(user, own)
  const { watches } = (await user.call('GET', '/api/watches')).body
  expect(watches.map(({ id }: { id: string }) => id)).toEqual([visible.id])
  const path = `/api/watches/${hidden.id}`
  for (const [method, to] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/checkIn`],
    ['POST', `${path}/link`],
  ] as const)
    expect((await user.call(method, to)).body.code).toBe('watch-not-found')
  const body = { name: 'Theirs', deviceId: other, everyMinutes: 60 }
  for (const [method, to] of [
    ['POST', '/api/watches'],
    ['PUT', `/api/watches/${visible.id}`],
  ] as const) {
    const reply = await user.call(method, to, { body })
    expect([reply.status, reply.body.errors]).toMatchObject([400, [{ pointer: '/deviceId' }]])
  }
})

test('an account has a number of running watches; ended ones make way', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const { id } = await createWatch(account, device)
  await copyWatch(id, MAX_WATCHES - 1)
  const body = { name: 'One more', deviceId: device, everyMinutes: 60 }
  const refused = await account.call('POST', '/api/watches', { body })
  expect([refused.status, refused.body.code]).toEqual([409, 'watch-limit-reached'])
  await step(account, id, 'complete')
  const created = await account.call('POST', '/api/watches', { body })
  expect(created.status).toBe(201)
  expect((await account.call('GET', `/api/watches/${id}`)).status).toBe(404)
})

test('of check-ins at the same time one completes a deadline, and none undoes an edit', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const every = await createWatch(account, device)
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => step(account, every.id, 'checkIn')),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(200))
  const once = await createWatch(account, device, { due: inMinutes(60), counts: 'checkIn' })
  const raced = await Promise.all([
    step(account, once.id, 'checkIn'),
    step(account, once.id, 'checkIn'),
    account.call('PATCH', `/api/watches/${once.id}`, { body: { name: 'Renamed' } }),
  ])
  expect(raced.map(({ status }) => status).sort()).toEqual([200, 200, 409])
  expect(await readWatch(account, once.id)).toMatchObject({ name: 'Renamed', state: 'completed' })
})

test('the watches of a deleted device go with it', async () => {
  const account = await openAccount()
  const [device, other] = [await createDevice(account), await createDevice(account)]
  const { id } = await createWatch(account, device)
  const kept = await createWatch(account, other)
  await account.call('DELETE', `/api/devices/${device}`)
  expect((await account.call('GET', `/api/watches/${id}`)).status).toBe(404)
  const rows = await env.DB.prepare('SELECT id FROM watches WHERE account_id = ?')
    .bind(account.id)
    .all()
  expect(rows.results).toEqual([{ id: kept.id }])
})
