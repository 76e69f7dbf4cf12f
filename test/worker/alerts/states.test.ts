import { describe, expect, test } from 'vitest'
import {
  callerWith,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../../support/accounts.ts'
import { raiseAlert, readAlert } from '../../support/alerts/alerts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
  recipientsOf,
} from '../../support/alerts/emergencies.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { beginTestsAtNoon } from '../../support/time.ts'

beginTestsAtNoon()

const step = (account: Pick<TestAccount, 'call'>, id: string, action: string, body?: object) =>
  account.call('POST', `/api/alerts/${id}/${action}`, body && { body })

const actionsOf = ({ log }: { log: { action: string }[] }) => log.map(({ action }) => action)

const raiseOne = async (account: TestAccount) =>
  (await raiseAlert(account, await createDevice(account), { alertName: 'Note' })).body.alert.id

const ESCALATION = { escalation: { afterMinutes: 10, rounds: 2 } }

describe('the states of an alert', () => {
  test('are given by the alert, its log, its version and events', async () => {
    const account = await openAccount()
    const id = await raiseOne(account)
    const etags = new Set<string | null>()
    const take = async (action: string, body?: object) => {
      const reply = await step(account, id, action, body)
      expect(reply.status).toBe(200)
      const read = await account.call('GET', `/api/alerts/${id}`)
      expect(read.body.alert).toEqual(reply.body.alert)
      etags.add(read.headers.get('ETag'))
      return reply.body.alert
    }
    expect(await take('acknowledge')).toMatchObject({ state: 'acknowledged', acknowledged: true })
    await take('notes', { text: 'On the way' })
    const resolved = await take('resolve', { note: 'Found' })
    expect(resolved).toMatchObject({ state: 'resolved', acknowledged: true, cancelled: false })
    expect([resolved.resolvedAt, resolved.resolvedBy]).not.toContain(null)
    const reopened = await take('reopen')
    const gone = { acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null }
    expect(reopened).toMatchObject({ state: 'open', acknowledged: false, ...gone })
    const cancelled = await take('cancel', { note: 'False alarm' })
    expect(cancelled).toMatchObject({ state: 'cancelled', acknowledged: true, cancelled: true })
    expect(etags.size).toBe(5)
    expect(cancelled.log.map(({ action, text }: Record<string, string>) => [action, text])).toEqual(
      [
        ['raised', null],
        ['acknowledged', null],
        ['noted', 'On the way'],
        ['resolved', 'Found'],
        ['reopened', null],
        ['acknowledged', null],
        ['cancelled', 'False alarm'],
      ],
    )
    for (const type of ['noted', 'resolved', 'reopened', 'cancelled'])
      expect(await readEvents(account, `alert.${type}`)).toHaveLength(1)
    for (const [state, count] of [
      ['cancelled', 1],
      ['resolved', 0],
      ['open', 0],
      ['acknowledged', 0],
    ] as const)
      expect((await account.call('GET', `/api/alerts?state=${state}`)).body.alerts).toHaveLength(
        count,
      )
  })

  test('change once by equal steps, and refuse wrong ones', async () => {
    const account = await openAccount()
    const id = await raiseOne(account)
    expect((await step(account, id, 'reopen')).body.code).toBe('wrong-alert-state')
    await step(account, id, 'resolve')
    const first = await readAlert(account, id)
    for (const action of ['resolve', 'acknowledge'])
      expect((await step(account, id, action)).body.alert).toEqual(first)
    const refused = await step(account, id, 'cancel')
    expect([refused.status, refused.body.code]).toEqual([409, 'wrong-alert-state'])
    await step(account, id, 'reopen')
    expect((await step(account, id, 'reopen')).status).toBe(200)
    await step(account, id, 'cancel')
    expect((await step(account, id, 'resolve')).body.code).toBe('wrong-alert-state')
    expect((await step(account, id, 'notes', { text: ' ' })).status).toBe(400)
    expect((await step(account, id, 'notes', { text: 'x'.repeat(2001) })).status).toBe(400)
    const other = await openAccount()
    for (const action of ['resolve', 'reopen', 'cancel', 'acknowledge'])
      expect((await step(other, id, action)).status).toBe(404)
    expect((await step(other, id, 'notes', { text: 'x' })).status).toBe(404)
    const reader = callerWith(await fetchTokenWithScopes(account, ['read']))
    expect((await step(reader, id, 'reopen')).status).toBe(403)
  })
})

describe('an emergency', () => {
  test('is not escalated once it is acknowledged, and again when it is reopened', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const { id } = (await raiseSos(account, await createDevice(account))).body.alert
    await waitUntilSent(account)
    await step(account, id, 'acknowledge')
    await passTime(account, 30 * MINUTE_MS)
    expect(await recipientsOf(account, 'escalation')).toEqual([])
    for (const action of ['resolve', 'reopen']) await step(account, id, action)
    expect(await recipientsOf(account, 'escalation')).toHaveLength(3)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation')).toHaveLength(6)
    expect(actionsOf(await readAlert(account, id)).slice(-2)).toEqual(['reopened', 'escalated'])
  })

  test('is escalated again when nothing happens after its acknowledgement', async () => {
    const account = await openAccountWithPeople({
      escalation: { afterMinutes: 10, rounds: 1, againAfterMinutes: 20 },
    })
    const { id } = (await raiseSos(account, await createDevice(account))).body.alert
    await waitUntilSent(account)
    await step(account, id, 'acknowledge')
    await passTime(account, 15 * MINUTE_MS)
    await step(account, id, 'notes', { text: 'Calling' })
    await passTime(account, 15 * MINUTE_MS)
    expect(await readEvents(account, 'alert.escalated')).toEqual([])
    await passTime(account, 6 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await readEvents(account, 'alert.escalated')).toHaveLength(1)
    const alert = await readAlert(account, id)
    expect(alert).toMatchObject({ state: 'open' })
    expect(alert.log.at(-2)).toMatchObject({ action: 'reopened', by: null })
  })
})
