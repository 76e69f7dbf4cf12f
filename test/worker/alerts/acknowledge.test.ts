import { describe, expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { createBoundUser } from '../../support/users.ts'

describe('acknowledging an alert', () => {
  test('records who and when, once', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const bound = await createBoundUser(account, { privileges: ['write'] })
    const { alert } = (await raiseAlert(account, id, { notifications: [] })).body
    const before = Date.now()
    const first = await bound.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    expect(first.status).toBe(200)
    expect(first.body.alert).toMatchObject({ acknowledged: true, acknowledgedBy: bound.id })
    expect(Date.parse(first.body.alert.acknowledgedAt)).toBeGreaterThanOrEqual(before)
    const second = await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    expect(second.text).toBe(first.text)
    expect((await account.call('GET', `/api/alerts/${alert.id}`)).headers.get('ETag')).toBe(
      first.headers.get('ETag'),
    )
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([
      { deviceId: id, alertId: alert.id, acknowledgedBy: bound.id },
    ])
  })

  test('of a deleted device is 404, and no event is logged', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id, { alertName: 'Offline' })).body
    await account.call('DELETE', `/api/devices/${id}`)
    expect((await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)).status).toBe(404)
    expect(await readEvents(account, 'alert.acknowledged')).toEqual([])
  })

  test('twice at the same time counts once', async () => {
    const account = await openAccount()
    const { alert } = (await raiseAlert(account, await createDevice(account))).body
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => account.call('POST', `/api/alerts/${alert.id}/acknowledge`)),
    )
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
  })
})
