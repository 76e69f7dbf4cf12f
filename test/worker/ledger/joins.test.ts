import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, test, vi } from 'vitest'
import { none } from '../../../src/notify/none.ts'
import type { TestAccount } from '../../support/accounts.ts'
import { readAlert } from '../../support/alerts/alerts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { beginTestsAtNoon, iso } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

beginTestsAtNoon()

const QUIET = { notifications: [] }
const withdrawAll = (account: TestAccount) =>
  runInDurableObject(ledgerStub(account), (_, { storage }) => {
    storage.sql.exec(
      "UPDATE messages SET status = 'suppressed', reason = 'acknowledged', next_try = NULL",
    )
  })
const textsOf = async (account: TestAccount, kind: string): Promise<string[]> => {
  const messages: { kind: string; text: string }[] = await readMessages(account)
  return messages.filter((message) => message.kind === kind).map(({ text }) => text)
}

describe('an SOS that joins an open one', () => {
  test('notifies those whom a quiet one has not, once, and check and rounds are armed', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const quiet = (await raiseSos(account, id, QUIET)).body.alert
    expect(await recipientsOf(account, 'alert')).toEqual([])
    for (let n = 0; n < 12; n++) await passTime(account, MINUTE_MS)
    const joined = (await raiseSos(account, id)).body
    expect([joined.alert.id, joined.warning]).toEqual([quiet.id, undefined])
    const own = joined.alert.deliveries.filter(({ kind }: { kind: string }) => kind === 'alert')
    expect(own).toMatchObject([{ status: 'queued', to: 'reader@example.com' }])
    await passTime(account, MINUTE_MS)
    await raiseSos(account, id)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'alert', 'sent')).toEqual(['Email reader@example.com'])
    await passTime(account, 10 * MINUTE_MS)
    const rounds = await readEvents(account, 'alert.escalated')
    expect(rounds.map(({ alertId }) => alertId)).toEqual([quiet.id, quiet.id])
    expect(await recipientsOf(account, 'escalation')).toContain('Email reader@example.com')
  })

  test('is sent once to each though many join at once', async () => {
    const account = await openAccountWithPeople({ escalation: null })
    await createUser(account, { email: 'second@example.com' })
    const id = await createDevice(account)
    await raiseSos(account, id, QUIET)
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        raiseSos(account, id, { dateTime: iso(Date.now() - n * 1000) }),
      ),
    )
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'alert')).toEqual([
      'Email reader@example.com',
      'Email second@example.com',
    ])
    const ids = (await readMessages(account)).map((message: { id: string }) => message.id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('notifies again whom no message has reached, three times at most', async () => {
    const account = await openAccountWithPeople({ escalation: null })
    const id = await createDevice(account)
    vi.spyOn(none, 'send').mockResolvedValue({ kind: 'refused', reason: 'bad-address' })
    const warnings: (string | undefined)[] = []
    for (let n = 0; n < 6; n++) {
      warnings.push((await raiseSos(account, id)).body.warning)
      await passTime(account, MINUTE_MS)
      await waitUntilSent(account)
    }
    expect(warnings.slice(0, 3)).toEqual([undefined, undefined, undefined])
    expect(warnings.at(-1)).toBe(
      'No message of this SOS has arrived: no provider has accepted its messages. No administrator or emergency contact is notified either. Tell someone by other means.',
    )
    expect(await recipientsOf(account, 'alert', 'failed')).toHaveLength(3)
  })

  test('notifies those whose message was withdrawn', async () => {
    vi.spyOn(none, 'send').mockResolvedValue({
      kind: 'retry',
      reason: 'provider-down',
      maybeAccepted: false,
    })
    const account = await openAccountWithPeople({ escalation: null })
    const id = await createDevice(account)
    await raiseSos(account, id)
    await withdrawAll(account)
    await passTime(account, 1_000)
    await raiseSos(account, id)
    expect(await recipientsOf(account, 'alert')).toHaveLength(2)
    await passTime(account, 1_000)
    await raiseSos(account, id)
    expect(await recipientsOf(account, 'alert')).toHaveLength(2)
  })

  test('notifies nobody beyond the device’s limit, and leaves nothing behind of it', async () => {
    const account = await openAccountWithPeople({ escalation: null })
    const id = await createDevice(account, { limits: { dailyEmailLimit: 0 } })
    const quiet = (await raiseSos(account, id, QUIET)).body.warning
    expect(quiet).toMatch(/: no user of the account receives .* are sent 4 messages\./)
    for (let n = 0; n < 3; n++) {
      await passTime(account, 1_000)
      expect((await raiseSos(account, id)).body.warning).toBe(
        'No message is sent for this SOS: the device has reached its daily limits. The account’s administrators and emergency contacts are sent 4 messages. Tell someone by other means too.',
      )
    }
    expect(await recipientsOf(account, 'alert')).toEqual([])
  })
})

describe('the newest place', () => {
  test('is in `alert.updated`, an older one that arrives later is not', async () => {
    const account = await openAccountWithPeople({ escalation: null })
    const id = await createDevice(account)
    const at = (minutes: number) => iso(Date.now() + minutes * MINUTE_MS)
    const places = [-20, -40, -10, -30].map((minutes, n) => ({
      dateTime: at(minutes),
      latitude: 10 + n,
      longitude: 20,
    }))
    let alert = null
    for (const place of places) alert = (await raiseSos(account, id, place)).body.alert
    expect(alert.updates).toHaveLength(3)
    expect(await readEvents(account, 'alert.updated')).toMatchObject([places[2]])
  })

  test('of those that joined and the last location is in rounds and in the single alert', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseSos(account, id)).body
    expect((await readAlert(account, alert.id)).newestPosition).toBeNull()
    await passTime(account, 2 * MINUTE_MS)
    const second = { latitude: 10.5, longitude: 20.25 }
    await raiseSos(account, id, second)
    expect((await readAlert(account, alert.id)).newestPosition).toEqual({
      ...second,
      dateTime: iso(Date.now()),
      source: 'update',
      place: '59 km S of Am Timan',
    })
    await passTime(account, 8 * MINUTE_MS + 1)
    const round = (await textsOf(account, 'escalation')).find((text) => text.includes('Place:'))
    expect(round).toContain('10.50000, 20.25000\n          59 km S of Am Timan\n')
    expect(round).toContain('Newest position, 8 minutes old')
    expect(round).toContain('First:    no position known')
    const location = { dateTime: iso(Date.now()), latitude: 11, longitude: 21 }
    await account.call('POST', `/api/devices/${id}/locations`, { body: location })
    expect((await readAlert(account, alert.id)).newestPosition).toEqual({
      latitude: 11,
      longitude: 21,
      dateTime: location.dateTime,
      source: 'location',
      place: '78 km E of Am Timan',
    })
  })

  test('is in the notices of one that reaches nobody', async () => {
    vi.spyOn(none, 'send').mockResolvedValue({
      kind: 'retry',
      reason: 'provider-down',
      maybeAccepted: false,
    })
    const account = await openAccountWithPeople({ escalation: null })
    const id = await createDevice(account)
    await raiseSos(account, id, { latitude: 1, longitude: 2 })
    await passTime(account, MINUTE_MS)
    await raiseSos(account, id, { latitude: 3, longitude: 4 })
    await passTime(account, MINUTE_MS + 1)
    const notice = (await textsOf(account, 'notice')).find((text) => text.includes('Place:'))
    expect(notice).toContain('3.00000, 4.00000')
    expect(notice).toContain('First:    1.00000, 2.00000')
    const sms = (await textsOf(account, 'notice')).find((text) => !text.includes('Place:'))
    expect(sms).toContain('1 min old: 3.00000,4.00000')
  })
})
