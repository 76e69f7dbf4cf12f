import { runInDurableObject } from 'cloudflare:test'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { none } from '../../../src/notify/none.ts'
import type { SendOutcome } from '../../../src/notify/provider.ts'
import type { TestAccount } from '../../support/accounts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { beginTestsAtNoon } from '../../support/time.ts'

const ESCALATION = { escalation: { afterMinutes: 10, rounds: 1 } }
const BUSY: SendOutcome = { kind: 'throttled', reason: 'provider-busy', afterMs: 60_000 }
const TIME_OUT: SendOutcome = { kind: 'retry', reason: 'provider-timeout', maybeAccepted: true }
const REFUSED: SendOutcome = { kind: 'refused', reason: 'no-such-mailbox' }

let account: TestAccount
let device: string

beginTestsAtNoon()
beforeEach(async () => {
  account = await openAccountWithPeople(ESCALATION)
  device = await createDevice(account)
})

const answer = (outcome: SendOutcome) => vi.spyOn(none, 'send').mockResolvedValue(outcome)
const step = (id: string, action: string) => account.call('POST', `/api/alerts/${id}/${action}`)
const messagesOf = async (kind: string): Promise<{ status: string; reason: string | null }[]> =>
  (await readMessages(account)).filter((message: { kind: string }) => message.kind === kind)
const readCounts = () =>
  runInDurableObject(ledgerStub(account), (_, { storage }) => {
    // Messages of drills have a limit of their own, which gets nothing back.
    const counts = `SELECT device_key, channel, sent, emergency FROM message_counts
      WHERE device_key <> -5`
    return [...storage.sql.exec(counts).raw()].filter(([, , sent]) => sent !== 0).toSorted()
  })

/** An emergency whose first round is queued after an attempt that ended so. */
const raiseAndEscalate = async (outcome: SendOutcome, members: object = {}) => {
  const { id } = (await raiseSos(account, device, members)).body.alert
  await waitUntilSent(account)
  const before = await readCounts()
  const provider = answer(outcome)
  await passTime(account, 10 * MINUTE_MS + 1)
  await passTime(account, 0)
  const queued = await messagesOf('escalation')
  expect(queued.map(({ status }) => status)).toEqual(Array(3).fill('queued'))
  provider.mockRestore()
  return { id, before }
}

const WITHDRAWN = { status: 'suppressed', reason: 'acknowledged' }

describe('an escalation that waits when its emergency is acknowledged', () => {
  test.each([{}, { test: true }])('is withdrawn and counted back once: %j', async (members) => {
    const { id, before } = await raiseAndEscalate(BUSY, members)
    const counted = await readCounts()
    if ('test' in members) expect(counted).toEqual(before)
    else expect(counted).not.toEqual(before)
    for (let n = 0; n < 2; n++) await step(id, 'acknowledge')
    expect(await messagesOf('escalation')).toMatchObject(Array(3).fill(WITHDRAWN))
    expect(await readCounts()).toEqual(before)
    const sent = vi.spyOn(none, 'send')
    await passTime(account, 30 * MINUTE_MS)
    expect(sent.mock.calls).toHaveLength(0)
    expect(await readCounts()).toEqual(before)
  })

  test('is withdrawn at the next attempt if the provider had not answered', async () => {
    const { id } = await raiseAndEscalate(TIME_OUT)
    const counted = await readCounts()
    await step(id, 'acknowledge')
    const sent = vi.spyOn(none, 'send')
    await passTime(account, 10 * MINUTE_MS)
    await waitUntilSent(account)
    expect(sent.mock.calls).toHaveLength(0)
    expect(await messagesOf('escalation')).toMatchObject(Array(3).fill(WITHDRAWN))
    // It may have been accepted.
    expect(await readCounts()).toEqual(counted)
  })

  test('goes on if the emergency is open again by then', async () => {
    const { id } = await raiseAndEscalate(TIME_OUT)
    for (const action of ['acknowledge', 'reopen']) await step(id, action)
    await passTime(account, 5 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation', 'sent')).toHaveLength(3)
  })
})

test('a notice that nobody is reached is not tried again after the acknowledgement', async () => {
  answer(REFUSED)
  const { id } = (await raiseSos(account, device)).body.alert
  await passTime(account, 0)
  answer(TIME_OUT)
  await passTime(account, 3 * MINUTE_MS)
  await passTime(account, 0)
  const notices = await messagesOf('notice')
  expect(new Set(notices.map(({ status }) => status))).toEqual(new Set(['queued']))
  await step(id, 'acknowledge')
  vi.restoreAllMocks()
  const sent = vi.spyOn(none, 'send')
  await passTime(account, 10 * MINUTE_MS)
  await waitUntilSent(account)
  expect(sent.mock.calls).toHaveLength(0)
  expect(await messagesOf('notice')).toMatchObject(notices.map(() => WITHDRAWN))
})

test('a cancellation is not sent to those whose message never went out', async () => {
  const { id } = await raiseAndEscalate(BUSY)
  await step(id, 'cancel')
  expect(await recipientsOf(account, 'notice')).toEqual(['Email reader@example.com'])
})
