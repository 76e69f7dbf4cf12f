import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { TestAccount } from '../../support/accounts.ts'
import {
  HARBOUR,
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  patchAccount,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { beginTestsAtNoon } from '../../support/time.ts'

const ESCALATION = { afterMinutes: 10, rounds: 1 }
const EVERYONE = ['Email harbour@example.com', 'Email reader@example.com', `SMS ${HARBOUR.phone}`]

let account: TestAccount
let device: string

beginTestsAtNoon()
beforeEach(async () => {
  account = await openAccountWithPeople({ escalation: ESCALATION })
  device = await createDevice(account)
})

const step = (id: string, action: string, options: object = {}) =>
  account.call('POST', `/api/alerts/${id}/${action}`, options)
const readAlert = async (id: string) => (await account.call('GET', `/api/alerts/${id}`)).body.alert
const inLedger = (statement: string) =>
  runInDurableObject(ledgerStub(account), (_, { storage }) => storage.sql.exec(statement).toArray())

const raise = async (members: object = {}): Promise<string> => {
  const { id } = (await raiseSos(account, device, members)).body.alert
  await waitUntilSent(account)
  return id
}

describe('an emergency that is reopened', () => {
  test.each(['cancel', 'resolve'])('after %s notifies everyone at once, each time', async (end) => {
    const id = await raise()
    const ids = new Set<string>()
    for (const times of [1, 2]) {
      for (const action of [end, 'reopen']) expect((await step(id, action)).status).toBe(200)
      await waitUntilSent(account)
      const again = (await readMessages(account)).filter(
        ({ kind }: { kind: string }) => kind === 'escalation',
      )
      for (const { id, text } of again) {
        ids.add(id)
        expect(text).toMatch(/^(Reopened, it is not over|Not over): SOS/)
      }
      expect(ids.size).toBe(3 * times)
    }
    const sent = await recipientsOf(account, 'escalation', 'sent')
    expect(sent).toEqual([...EVERYONE, ...EVERYONE].toSorted())
  })

  test('after an acknowledgement notifies nobody before its round', async () => {
    const id = await raise()
    for (const action of ['acknowledge', 'reopen']) await step(id, action)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation')).toEqual([])
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation')).toEqual(EVERYONE)
  })

  test('is sent to those who get the device’s alerts if the ledger has forgotten whom it notified', async () => {
    const id = await raise()
    await step(id, 'acknowledge')
    await inLedger('DELETE FROM messages')
    await step(id, 'reopen')
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation')).toEqual(expect.arrayContaining(EVERYONE))
  })

  test('gives its messages ids of their own, though the cell has not all of them yet', async () => {
    const id = await raise()
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    await env.DB.prepare('UPDATE alerts SET messages = 2').run()
    for (const action of ['resolve', 'reopen']) expect((await step(id, action)).status).toBe(200)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    const sent = await recipientsOf(account, 'escalation', 'sent')
    expect(sent).toEqual([...EVERYONE, ...EVERYONE, ...EVERYONE].toSorted())
  })

  test('may be so a limited number of times by people, and is not if it is a drill', async () => {
    const id = await raise()
    await step(id, 'acknowledge')
    await inLedger('UPDATE alert_states SET reopened = 31, notes = 200')
    for (const [action, body] of [
      ['reopen', {}],
      ['notes', { text: 'One more' }],
    ] as const) {
      const refused = await step(id, action, { body })
      expect([refused.status, refused.body.code]).toEqual([409, 'alert-log-full'])
    }
    const drill = await raise({ test: true })
    await step(drill, 'cancel')
    const refused = await step(drill, 'reopen')
    expect([refused.status, refused.body.code]).toEqual([409, 'wrong-alert-state'])
    expect(refused.body.detail).toContain('drill')
  })
})

test('the service’s own restarts are not counted, and a new setting holds at once', async () => {
  const id = await raise()
  await step(id, 'acknowledge')
  await inLedger('UPDATE alert_states SET reopened = 31')
  await patchAccount(account, { escalation: { ...ESCALATION, againAfterMinutes: 5 } })
  await passTime(account, 4 * MINUTE_MS)
  expect(await readEvents(account, 'alert.escalated')).toEqual([])
  await passTime(account, MINUTE_MS + 1)
  await passTime(account, 0)
  expect(await readEvents(account, 'alert.escalated')).toHaveLength(1)
  expect(await readAlert(id)).toMatchObject({ state: 'open' })
  await step(id, 'acknowledge')
  await patchAccount(account, { escalation: { ...ESCALATION, againAfterMinutes: null } })
  await passTime(account, 20 * MINUTE_MS)
  expect(await readAlert(id)).toMatchObject({ state: 'acknowledged' })
})

test('a note is added once though its request is repeated after a crash', async () => {
  const id = await raise()
  const add = (key: string) =>
    step(id, 'notes', { body: { text: 'On the way' }, headers: { 'Idempotency-Key': key } })
  await add('a')
  await env.DB.prepare(
    `UPDATE idempotency SET status = NULL, headers = NULL, body = 'an attempt that crashed'
      WHERE account_id = ?`,
  )
    .bind(account.id)
    .run()
  vi.setSystemTime(Date.now() + 31_000)
  expect((await add('a')).status).toBe(200)
  const notes = async () =>
    (await readAlert(id)).log.filter(({ action }: { action: string }) => action === 'noted')
  expect(await notes()).toHaveLength(1)
  expect(await readEvents(account, 'alert.noted')).toHaveLength(1)
  await add('b')
  expect(await notes()).toHaveLength(2)
})
