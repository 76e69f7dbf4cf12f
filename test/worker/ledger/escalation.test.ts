import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { none } from '../../../src/notify/none.ts'
import {
  callerWith,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
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
import { holdBatches } from '../../support/bindings.ts'
import { createDevice, readUsage } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { callAsOperator } from '../../support/http.ts'
import { crashLedger, ledgerStub } from '../../support/ledger.ts'
import { makeSource } from '../../support/sources.ts'
import { beginTestsAtNoon } from '../../support/time.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

beginTestsAtNoon()

const ESCALATION = { escalation: { afterMinutes: 10, rounds: 2 } }
const ROUND = ['Email harbour@example.com', 'Email reader@example.com', `SMS ${HARBOUR.phone}`]

const roundsOf = async (account: { id: string }) =>
  (await readEvents(account, 'alert.escalated')).map(({ round }) => round)

describe('the settings for emergencies', () => {
  test('have defaults, are changed together, and go back to their defaults', async () => {
    const account = await openAccount()
    const read = async () => (await account.call('GET', '/api/account')).body.account
    const defaults = {
      emergencyContacts: [],
      escalation: null,
      emergencyAlerts: ['SOSButton'],
      dailyNoticeLimit: { email: 200, sms: 50 },
    }
    expect(await read()).toMatchObject(defaults)
    const settings = {
      emergencyContacts: [HARBOUR, { name: 'Radio', phone: '+881632000000' }],
      escalation: { afterMinutes: 1440, rounds: 3 },
      emergencyAlerts: ['SOSButton', 'Fire'],
      dailyNoticeLimit: { email: 10, sms: 0 },
    }
    expect(await patchAccount(account, settings)).toMatchObject(settings)
    expect(await read()).toMatchObject(settings)
    const cleared = { emergencyContacts: null, escalation: null, emergencyAlerts: null }
    expect(await patchAccount(account, { ...cleared, dailyNoticeLimit: null })).toMatchObject(
      defaults,
    )
  })

  test.each<[object, string]>([
    [{ emergencyContacts: [{ name: 'Nobody' }] }, '/emergencyContacts/0'],
    [{ emergencyContacts: [{ email: 'a@example.com' }] }, '/emergencyContacts/0/name'],
    [{ emergencyContacts: [{ name: 'A', phone: '12' }] }, '/emergencyContacts/0/phone'],
    [{ emergencyContacts: Array.from({ length: 21 }, () => HARBOUR) }, '/emergencyContacts'],
    [{ escalation: { afterMinutes: 0, rounds: 1 } }, '/escalation/afterMinutes'],
    [{ escalation: { afterMinutes: 1441, rounds: 1 } }, '/escalation/afterMinutes'],
    [{ escalation: { afterMinutes: 5, rounds: 4 } }, '/escalation/rounds'],
    [
      { escalation: { afterMinutes: 5, rounds: 1, againAfterMinutes: 0 } },
      '/escalation/againAfterMinutes',
    ],
    [{ escalation: { afterMinutes: 5, rounds: 1, voice: 'yes' } }, '/escalation/voice'],
    [{ emergencyAlerts: [''] }, '/emergencyAlerts/0'],
    [{ dailyNoticeLimit: { email: -1 } }, '/dailyNoticeLimit/email'],
  ])('%j is refused', async (body, pointer) => {
    const account = await openAccount()
    const reply = await account.call('PATCH', '/api/account', { body })
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer])
  })
})

describe('an account without a setting for escalation', () => {
  const DEFAULT = { afterMinutes: 10, rounds: 1, againAfterMinutes: null, voice: false }
  const read = async (account: TestAccount) =>
    (await account.call('GET', '/api/account')).body.account.escalation

  test('escalates once after ten minutes if it has an emergency contact', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    await raiseSos(account, id)
    await waitUntilSent(account)
    for (let n = 0; n < 4; n++) await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await roundsOf(account)).toEqual([1])
    expect(await recipientsOf(account, 'escalation', 'sent')).toEqual(ROUND)
  })

  test('has the default as long as nothing is set, also one from before there was a default', async () => {
    const account = await openAccount()
    expect(await read(account)).toBeNull()
    await patchAccount(account, { emergencyContacts: [HARBOUR] })
    expect(await read(account)).toEqual(DEFAULT)
    await patchAccount(account, { name: 'Another name', emergencyContacts: null })
    expect(await read(account)).toBeNull()
    const stored = JSON.stringify({ emergencyContacts: [HARBOUR], escalation: null })
    await runInDurableObject(ledgerStub(account), (_, { storage }) => {
      storage.sql.exec('UPDATE account SET emergency = ?', stored)
    })
    expect(await read(account)).toEqual(DEFAULT)
  })

  test('null switches it off for good, and a setting is kept as it was set', async () => {
    const account = await openAccount()
    await patchAccount(account, { escalation: null })
    await patchAccount(account, { emergencyContacts: [HARBOUR] })
    expect(await read(account)).toBeNull()
    const set = { afterMinutes: 5, rounds: 2, againAfterMinutes: 60, voice: true }
    expect((await patchAccount(account, { escalation: set })).escalation).toEqual(set)
    await patchAccount(account, { name: 'Another name' })
    expect(await read(account)).toEqual(set)
    const steps = [{ op: 'replace', path: '/account/escalation', value: null }]
    const headers = { 'Content-Type': 'application/json-patch+json' }
    const reply = await account.call('PATCH', '/api/account', { body: steps, headers })
    expect([reply.status, reply.body.account.escalation]).toEqual([200, null])
    const listed = await callAsOperator('GET', `/admin/accounts/${account.id}`)
    expect(listed.body.account.escalation).toBeNull()
  })
})

describe('an emergency that nobody acknowledges', () => {
  test('goes again to everyone sent a message and to the contacts, as often as set', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const id = await createDevice(account)
    const { alert } = (await raiseSos(account, id)).body
    await waitUntilSent(account)
    await passTime(account, 9 * MINUTE_MS)
    expect(await roundsOf(account)).toEqual([])
    await passTime(account, MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation', 'sent')).toEqual(ROUND)
    expect(await readEvents(account, 'alert.escalated')).toEqual([
      {
        deviceId: id,
        alertId: alert.id,
        alertName: 'SOSButton',
        round: 1,
        messages: 3,
        messagesSuppressed: 0,
      },
    ])
    for (let n = 0; n < 4; n++) await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await roundsOf(account)).toEqual([1, 2])
    expect(await recipientsOf(account, 'escalation', 'sent')).toEqual([...ROUND, ...ROUND].sort())
    expect(await readUsage(account, id)).toMatchObject({ emailsSent: 1, smsSent: 0 })
    expect(await readEvents(account, 'alert.undelivered')).toEqual([])
  })

  test('has its rounds exactly once across crashes, and no limit of notices counts them', async () => {
    const account = await openAccountWithPeople({
      ...ESCALATION,
      dailyNoticeLimit: { email: 0, sms: 0 },
    })
    const id = await createDevice(account)
    await raiseSos(account, id)
    await waitUntilSent(account)
    for (let n = 0; n < 6; n++) {
      await crashLedger(account)
      await passTime(account, 5 * MINUTE_MS + 1)
      await crashLedger(account)
      await passTime(account, 0)
    }
    await waitUntilSent(account)
    expect(await roundsOf(account)).toEqual([1, 2])
    expect(await recipientsOf(account, 'escalation', 'sent')).toHaveLength(6)
    const ids = (await readMessages(account)).map((message: { id: string }) => message.id)
    expect(new Set(ids).size).toBe(7)
  })

  test('has all of its rounds whatever else has used up notices and the budget', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const budgets = { messagesPerDay: { Email: 3, SMS: 3 } }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    const sources = [await makeSource(account, 'osmand'), await makeSource(account, 'osmand')]
    const push = (identifier: string, source = 0) =>
      sources[source]?.push({ query: `?id=${identifier}&lat=1&lon=1&alarm=sos` })
    const countNotices = async () =>
      (await readMessages(account, '?limit=1000')).filter(
        ({ kind, to }: { kind: string; to: string }) =>
          kind === 'notice' && to === 'admin@example.com',
      ).length
    for (let n = 0; n < 7; n++) {
      const replies = await Promise.all(Array.from({ length: 30 }, () => push('stuck')))
      expect(new Set(replies.map((reply) => reply?.status))).toEqual(new Set([200]))
    }
    expect(await countNotices()).toBe(1)
    await push('stuck', 1)
    await push('other')
    expect(await countNotices()).toBe(3)
    for (let n = 0; n < 5; n++) await push(`more-${n}`, n % 2)
    const id = await createDevice(account)
    await raiseSos(account, id)
    await waitUntilSent(account)
    for (let n = 0; n < 2; n++) await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation', 'sent')).toEqual([...ROUND, ...ROUND].sort())
  })

  test('goes on to 20 messages of its device by each channel; the budget bounds the rest', async () => {
    const account = await openAccountWithPeople({
      escalation: { afterMinutes: 1, rounds: 3 },
      emergencyContacts: Array.from({ length: 9 }, (_, n) => ({
        name: `Contact ${n}`,
        email: `contact-${n}@example.com`,
      })),
    })
    const setBudget = (Email: number) =>
      callAsOperator('PATCH', `/admin/accounts/${account.id}`, {
        body: { budgets: { messagesPerDay: { Email } } },
      })
    await setBudget(0)
    const id = await createDevice(account)
    await raiseSos(account, id)
    await waitUntilSent(account)
    for (let n = 0; n < 3; n++) await passTime(account, MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation', 'sent')).toHaveLength(20)
    const suppressed = (await readMessages(account, '?status=suppressed')).filter(
      ({ kind }: { kind: string }) => kind === 'escalation',
    )
    expect(suppressed).toHaveLength(10)
    expect(suppressed[0].reason).toBe('message-budget-reached')
    // One that is sent again counts as one of them too.
    const retry = () => account.call('POST', `/api/account/messages/${suppressed[0].id}/retry`)
    expect((await retry()).body.code).toBe('message-budget-reached')
    await setBudget(21)
    expect((await retry()).status).toBe(200)
    const { budgetUsage } = (await account.call('GET', '/api/account')).body.account
    expect(budgetUsage.messages.Email).toBe(1)
  })

  test('ends its rounds when it is acknowledged, when escalation ends, and with its device', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const [first, second] = [await createDevice(account), await createDevice(account)]
    const { alert } = (await raiseSos(account, first)).body
    await raiseSos(account, second)
    await waitUntilSent(account)
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    await account.call('DELETE', `/api/devices/${second}`)
    await passTime(account, 11 * MINUTE_MS)
    expect(await roundsOf(account)).toEqual([])
    const third = await createDevice(account)
    await raiseSos(account, third)
    await patchAccount(account, { escalation: null })
    await passTime(account, 11 * MINUTE_MS)
    expect(await roundsOf(account)).toEqual([])
  })

  test('leaves out users who were disabled since, and those whose alert the cell has acknowledged', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const [first, second] = [await createDevice(account), await createDevice(account)]
    const leaver = await createUser(account, { email: 'leaver@example.com' })
    await raiseSos(account, first)
    const { alert } = (await raiseSos(account, second)).body
    await waitUntilSent(account)
    await account.call('PATCH', `/api/users/${leaver.id}`, { body: { disabled: true } })
    await env.DB.prepare('UPDATE alerts SET acknowledged_at = 1, seq = seq + 1 WHERE id = ?')
      .bind(alert.id)
      .run()
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'escalation', 'sent')).toEqual(ROUND)
  })

  test('goes again to a phone that another user has got since', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const deviceId = await createDevice(account)
    const phone = '+351910000091'
    const notify = { email: false, sms: false }
    const earlier = await createUser(account, { email: 'a@example.com', notify })
    await createUser(account, { email: 'b@example.com', phone, notify: { ...notify, sms: true } })
    await raiseSos(account, deviceId)
    await waitUntilSent(account)
    const body = { phone, notify: { ...notify, sms: true } }
    await account.call('PATCH', `/api/users/${earlier.id}`, { body })
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    const round = await recipientsOf(account, 'escalation', 'sent')
    expect(round).toEqual([...ROUND, `SMS ${phone}`].sort())
  })

  test('is either escalated before it is acknowledged or not at all', async () => {
    const account = await openAccountWithPeople({ escalation: { afterMinutes: 10, rounds: 1 } })
    const devices = await Promise.all(Array.from({ length: 8 }, () => createDevice(account)))
    const raised = await Promise.all(devices.map((id) => raiseSos(account, id)))
    const ids: string[] = raised.map(({ body }) => body.alert.id)
    await waitUntilSent(account)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * MINUTE_MS + 1 })
    await Promise.all([
      ...ids.map((id) => account.call('POST', `/api/alerts/${id}/acknowledge`)),
      passTime(account, 0),
    ])
    await passTime(account, MINUTE_MS)
    await waitUntilSent(account)
    const escalated = (await readEvents(account, 'alert.escalated')).map(({ alertId }) => alertId)
    const order = await account.call('GET', '/api/events?limit=1000')
    const sequence = (type: string, alertId: string) =>
      order.body.events.find(
        (event: { type: string; data: { alertId: string } }) =>
          event.type === type && event.data.alertId === alertId,
      )?.sequence
    for (const id of ids) {
      expect(sequence('alert.acknowledged', id)).toBeDefined()
      if (!escalated.includes(id)) continue
      expect(sequence('alert.escalated', id)).toBeLessThan(sequence('alert.acknowledged', id))
    }
    expect(await recipientsOf(account, 'escalation')).toHaveLength(3 * escalated.length)
  })

  test('a crash between the decision on a round and its sending sends each message once', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const id = await createDevice(account)
    await raiseSos(account, id)
    await waitUntilSent(account)
    const hangs = vi.spyOn(none, 'send').mockImplementation(() => new Promise(() => {}))
    await passTime(account, 10 * MINUTE_MS + 1)
    expect(hangs).toHaveBeenCalled()
    await crashLedger(account)
    hangs.mockRestore()
    const sent = vi.spyOn(none, 'send')
    await passTime(account, 3 * MINUTE_MS)
    await waitUntilSent(account)
    expect(sent.mock.calls.map(([, { to }]) => to).toSorted()).toEqual(
      ROUND.map((text) => text.split(' ')[1]).toSorted(),
    )
    expect(await roundsOf(account)).toEqual([1])
  })

  test('a cell that does not answer holds up neither rounds nor what is queued', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    for (let n = 0; n < 3; n++) await raiseSos(account, await createDevice(account))
    await waitUntilSent(account)
    const down = { kind: 'retry', reason: 'provider-down', maybeAccepted: false } as const
    const send = vi.spyOn(none, 'send').mockResolvedValueOnce(down)
    const { alert } = (await raiseSos(account, await createDevice(account))).body
    await runDurableObjectAlarm(ledgerStub(account))
    const { promise, resolve } = Promise.withResolvers<void>()
    const setCell = (DB: D1Database) =>
      runInDurableObject(ledgerStub(account), (ledger) => {
        Object.assign((ledger as unknown as { env: object }).env, { DB })
      })
    const before = env.DB
    await setCell(holdBatches(before, promise))
    const start = performance.now()
    const sent: { key: string; ms: number }[] = []
    send.mockImplementation(async (_, { key }) => {
      sent.push({ key, ms: performance.now() - start })
      return { kind: 'accepted', providerId: null }
    })
    await passTime(account, 10 * MINUTE_MS + 1)
    const elapsedMs = performance.now() - start
    await setCell(before)
    resolve()
    expect(sent[0]?.key).toBe(alert.deliveries[0].id)
    expect(sent[0]?.ms).toBeLessThan(1_900)
    // Four rounds of three messages each; the cell is waited for once, two seconds.
    expect(sent.length).toBeGreaterThanOrEqual(13)
    expect(elapsedMs).toBeLessThan(3_900)
    await waitUntilSent(account)
    expect(await roundsOf(account)).toEqual([1, 1, 1, 1])
  })
})

describe('acknowledging', () => {
  test('counts once though two people do it at the same time', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseSos(account, id)).body
    const people = await Promise.all([
      createBoundUser(account, { privileges: ['write'] }, { scopes: ['write'] }),
      createBoundUser(account, { privileges: ['write'] }, { scopes: ['write'] }),
    ])
    const replies = await Promise.all(
      [...people, ...people].map((person) =>
        person.call('POST', `/api/alerts/${alert.id}/acknowledge`),
      ),
    )
    const by = new Set(replies.map(({ body }) => body.alert.acknowledgedBy))
    const at = new Set(replies.map(({ body }) => body.alert.acknowledgedAt))
    expect([by.size, at.size]).toEqual([1, 1])
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([
      { deviceId: id, alertId: alert.id, acknowledgedBy: [...by][0] },
    ])
    const read = await account.call('GET', `/api/alerts/${alert.id}`)
    expect(read.body.alert).toMatchObject({ acknowledged: true, acknowledgedBy: [...by][0] })
  })

  test('keeps an acknowledgement that only the cell still has', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id)).body
    const path = `/api/alerts/${alert.id}/acknowledge`
    const first = (await account.call('POST', path)).body.alert
    await runInDurableObject(ledgerStub(account), (_, state) => {
      state.storage.sql.exec('DELETE FROM alert_states')
    })
    expect((await account.call('POST', path)).body.alert).toEqual(first)
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
  })

  test('is shown again by a cell that was restored to an earlier state', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id)).body
    const path = `/api/alerts/${alert.id}`
    await account.call('POST', `${path}/acknowledge`)
    await env.DB.prepare(
      'UPDATE alerts SET acknowledged_at = NULL, acknowledged_by = NULL, seq = 0 WHERE id = ?',
    )
      .bind(alert.id)
      .run()
    await account.call('POST', `${path}/acknowledge`)
    expect((await account.call('GET', path)).body.alert.acknowledged).toBe(true)
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
  })
})

describe('cancelling', () => {
  test('acknowledges, ends the rounds and notifies everyone who was sent a message, once', async () => {
    const account = await openAccountWithPeople(ESCALATION)
    const id = await createDevice(account)
    const { alert } = (await raiseSos(account, id)).body
    await waitUntilSent(account)
    await passTime(account, 10 * MINUTE_MS + 1)
    await waitUntilSent(account)
    const path = `/api/alerts/${alert.id}/cancel`
    const replies = await Promise.all([account.call('POST', path), account.call('POST', path)])
    for (const { status, body } of replies) {
      expect(status).toBe(200)
      expect(body.alert).toMatchObject({ cancelled: true, acknowledged: true })
    }
    await passTime(account, 30 * MINUTE_MS)
    await waitUntilSent(account)
    expect(await roundsOf(account)).toEqual([1])
    expect(await recipientsOf(account, 'notice', 'sent')).toEqual(ROUND)
    expect(await readEvents(account, 'alert.cancelled')).toEqual([
      {
        deviceId: id,
        alertId: alert.id,
        cancelledBy: expect.stringMatching(/^key_/),
        text: null,
        notices: 3,
        noticesSuppressed: 0,
      },
    ])
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
    const read = (await account.call('GET', `/api/alerts/${alert.id}`)).body.alert
    expect(read).toMatchObject({ cancelled: true, acknowledged: true })
    expect(read.deliveries.map(({ kind }: { kind: string }) => kind)).not.toContain('notice')
  })

  test('an acknowledged alert keeps who acknowledged it; one that sent nothing notifies nobody', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id, { notifications: [] })).body
    const ana = await createBoundUser(account, { privileges: ['write'] }, { scopes: ['write'] })
    await ana.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    const { body } = await account.call('POST', `/api/alerts/${alert.id}/cancel`)
    expect(body.alert).toMatchObject({ acknowledgedBy: ana.id, cancelled: true })
    expect(await recipientsOf(account, 'notice')).toEqual([])
  })

  test('wants write', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id)).body
    for (const scope of ['read', 'ingest']) {
      const caller = callerWith(await fetchTokenWithScopes(account, [scope]))
      expect((await caller.call('POST', `/api/alerts/${alert.id}/cancel`)).status).toBe(403)
    }
  })
})

describe('notices about emergencies', () => {
  test('are listed for administrators alone, and sent again within the account’s limit', async () => {
    const account = await openAccountWithPeople({ dailyNoticeLimit: { email: 1, sms: 2 } })
    const id = await createDevice(account, { limits: { dailyEmailLimit: 0, dailySmsLimit: 0 } })
    await raiseSos(account, id)
    await waitUntilSent(account)
    const reader = callerWith(await fetchTokenWithScopes(account, ['read']))
    const kinds = async (caller: typeof reader) =>
      new Set((await readMessages(caller)).map(({ kind }: { kind: string }) => kind))
    expect(await kinds(account)).toEqual(new Set(['alert', 'notice']))
    expect(await kinds(reader)).toEqual(new Set(['alert']))
    const [suppressed] = (await readMessages(account, '?status=suppressed')).filter(
      ({ kind }: { kind: string }) => kind === 'notice',
    )
    const retry = () => account.call('POST', `/api/account/messages/${suppressed.id}/retry`)
    expect((await retry()).body.code).toBe('daily-limit-reached')
    await patchAccount(account, { dailyNoticeLimit: { email: 2, sms: 2 } })
    expect((await retry()).status).toBe(200)
    await waitUntilSent(account)
    expect(await recipientsOf(account, 'notice', 'sent')).toHaveLength(4)
  })
})
