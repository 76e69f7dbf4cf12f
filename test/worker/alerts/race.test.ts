import { expect, test, vi } from 'vitest'
import { none } from '../../../src/notify/none.ts'
import type { TestAccount } from '../../support/accounts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
} from '../../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { createGroup } from '../../support/groups.ts'
import { beginTestsAtNoon } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

const STEPS = ['cancel', 'resolve', 'acknowledge', 'reopen']
const CHANGES = ['acknowledged', 'resolved', 'cancelled', 'reopened']

beginTestsAtNoon()

const step = (account: Pick<TestAccount, 'call'>, id: string, action: string) =>
  account.call('POST', `/api/alerts/${id}/${action}`)

interface Logged {
  action: string
}

test.each([0, 1, 2, 3])('state, log and events agree whatever is first: %i', async (first) => {
  const escalation = { afterMinutes: 10, rounds: 2 }
  const account = await openAccountWithPeople({ escalation })
  const device = await createDevice(account)
  const { id } = (await raiseSos(account, device)).body.alert
  await waitUntilSent(account)
  vi.setSystemTime(Date.now() + 10 * MINUTE_MS + 1)
  const order = [...STEPS.slice(first), ...STEPS.slice(0, first)]
  await Promise.all([
    ...order.slice(0, first).map((action) => step(account, id, action)),
    passTime(account, 0),
    raiseSos(account, device),
    ...order.slice(first).map((action) => step(account, id, action)),
  ])
  const { alert } = (await account.call('GET', `/api/alerts/${id}`)).body
  const actions: string[] = alert.log.map(({ action }: Logged) => action)
  const last = actions.findLast((action) => CHANGES.includes(action))
  expect(alert.state).toBe(last === 'reopened' ? 'open' : last)
  for (const action of [...CHANGES, 'escalated'])
    expect([action, (await readEvents(account, `alert.${action}`)).length]).toEqual([
      action,
      actions.filter((logged) => logged === action).length,
    ])
  await step(account, id, 'acknowledge')
  const sent = vi.spyOn(none, 'send')
  await passTime(account, 25 * MINUTE_MS)
  await waitUntilSent(account)
  const keys = sent.mock.calls.map(([, { key }]) => key)
  const messages: { id: string; kind: string; alertId: string }[] = await readMessages(account)
  const late = messages.filter(
    ({ id: message, kind, alertId }) =>
      kind === 'escalation' && alertId === id && keys.includes(message),
  )
  expect(late).toEqual([])
})

test('a user of a group takes steps only in alerts of its devices', async () => {
  const account = await openAccountWithPeople()
  const [own, other] = [await createDevice(account), await createDevice(account)]
  const { id: group } = await createGroup(account, { name: 'North', devices: [own] })
  const user = await createBoundUser(account, { group, privileges: ['read', 'write'] })
  const ids: string[] = []
  for (const device of [own, other]) ids.push((await raiseSos(account, device)).body.alert.id)
  const statusesOf = async (id = '') => {
    const statuses = [(await user.call('GET', `/api/alerts/${id}`)).status]
    for (const action of ['acknowledge', 'resolve', 'reopen', 'cancel'])
      statuses.push((await step(user, id, action)).status)
    const body = { text: 'x' }
    statuses.push((await user.call('POST', `/api/alerts/${id}/notes`, { body })).status)
    return statuses
  }
  expect(await statusesOf(ids[0])).toEqual(Array(6).fill(200))
  expect(await statusesOf(ids[1])).toEqual(Array(6).fill(404))
})
