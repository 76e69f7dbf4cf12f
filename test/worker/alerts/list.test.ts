import { describe, expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

const pointers = (reply: { body: { errors: { pointer: string }[] } }) =>
  reply.body.errors.map(({ pointer }) => pointer)

describe('listing alerts', () => {
  const seeded = async () => {
    const account = await openAccount()
    await createUser(account)
    const [first, second] = [await createDevice(account), await createDevice(account)]
    const days = [3, 1, 2, 5, 4]
    for (const day of days) {
      const name = day % 2 ? 'SOSButton' : 'LowBattery'
      await raiseAlert(account, first, { alertName: name, dateTime: `2026-11-0${day}T00:00:00Z` })
    }
    await raiseAlert(account, second, { alertName: 'SOSButton', dateTime: '2026-11-02T12:00:00Z' })
    return { account, first, second }
  }
  const days = (body: { alerts: { dateTime: string }[] }) =>
    body.alerts.map(({ dateTime }) => Number(dateTime.slice(8, 10)))

  test('of a device filters by span and name, by POST and by GET, both ends included', async () => {
    const { account, first } = await seeded()
    const path = `/api/devices/${first}/alerts`
    const query = { from: '2026-11-02T00:00:00Z', to: '2026-11-04T01:00:00+01:00' }
    const asked = await account.call('POST', path, { body: query })
    expect([asked.status, days(asked.body), asked.body.nextCursor]).toEqual([200, [2, 3, 4], null])
    const got = await account.call('GET', `${path}?${new URLSearchParams(query)}`)
    expect(got.text).toBe(asked.text)
    expect(
      days((await account.call('POST', path, { body: { ...query, alertName: 'SOSButton' } })).body),
    ).toEqual([3])
    expect(
      days((await account.call('GET', `${path}?alertName=SOSButton&sort=-dateTime`)).body),
    ).toEqual([5, 3, 1])
    expect(days((await account.call('GET', path)).body)).toEqual([1, 2, 3, 4, 5])
    expect((await account.call('GET', path)).body.alerts[0].deliveries).toHaveLength(1)
    expect(
      (await account.call('POST', path, { body: { from: '2026-11-02T00:00:00Z' } })).status,
    ).toBe(200)
    const wrong = await account.call('POST', path, { body: { from: query.to, to: query.from } })
    expect([wrong.status, pointers(wrong)]).toEqual([400, ['/from']])
    expect(pointers(await account.call('GET', `${path}?from=yesterday`))).toEqual(['#/query/from'])
    expect((await account.call('GET', '/api/devices/dev_none/alerts')).status).toBe(404)
  })

  test('filters by whether they are acknowledged, in every list', async () => {
    const { account, first } = await seeded()
    const { alerts } = (await account.call('GET', `/api/devices/${first}/alerts`)).body
    for (const { id } of alerts.slice(1, 3))
      await account.call('POST', `/api/alerts/${id}/acknowledge`)
    const path = `/api/devices/${first}/alerts`
    const listed = async (query: string) => days((await account.call('GET', query)).body)
    expect(await listed(`${path}?acknowledged=true`)).toEqual([2, 3])
    expect(await listed(`${path}?acknowledged=false&alertName=SOSButton`)).toEqual([1, 5])
    expect(await listed('/api/alerts?acknowledged=false')).toEqual([5, 4, 2, 1])
    expect(await listed('/api/alerts?acknowledged=true&alertName=SOSButton')).toEqual([3])
    const query = { from: '2026-11-01T00:00:00Z', acknowledged: false }
    for (const limit of [{}, { limit: 10 }]) {
      const posted = await account.call('POST', path, { body: { ...query, ...limit } })
      expect([posted.status, days(posted.body)]).toEqual([200, [1, 4, 5]])
    }
    const page = await account.call('GET', '/api/alerts?acknowledged=false&limit=1')
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
    expect(next).toContain('acknowledged=false')
    expect(await listed(next)).toEqual([4])
    const { nextCursor: cursor } = page.body
    const other = await account.call(
      'GET',
      `/api/alerts?acknowledged=true&cursor=${encodeURIComponent(cursor)}`,
    )
    expect(other.body.code).toBe('invalid-cursor')
    for (const wrong of ['yes', '1', '']) {
      const refused = await account.call('GET', `/api/alerts?acknowledged=${wrong}`)
      expect([refused.status, pointers(refused)]).toEqual([400, ['#/query/acknowledged']])
    }
  })

  test('of the account returns the newest first, and pages without gaps or repeats', async () => {
    const { account, first, second } = await seeded()
    const seen: string[] = []
    let path = '/api/alerts?limit=2'
    for (let pages = 0; pages < 5; pages++) {
      const { body, headers } = await account.call('GET', path)
      seen.push(
        ...body.alerts.map(
          ({ deviceId, dateTime }: { deviceId: string; dateTime: string }) =>
            `${deviceId} ${dateTime.slice(8, 10)}`,
        ),
      )
      const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
      if (body.nextCursor === null) break
      expect(next).toContain(encodeURIComponent(body.nextCursor))
      path = next ?? ''
      // Alerts that arrive between two pages change nothing.
      await raiseAlert(account, first, { dateTime: '2026-11-09T00:00:00Z' })
    }
    expect(seen).toEqual([
      `${first} 05`,
      `${first} 04`,
      `${first} 03`,
      `${second} 02`,
      `${first} 02`,
      `${first} 01`,
    ])
    expect(
      days((await account.call('GET', '/api/alerts?alertName=SOSButton&sort=dateTime')).body),
    ).toEqual([1, 2, 3, 5])
    expect((await account.call('GET', '/api/alerts?cursor=x.y')).body.code).toBe('invalid-cursor')
  })

  test('accepts a cursor from POST in GET, but not with another filter', async () => {
    const { account, first } = await seeded()
    const path = `/api/devices/${first}/alerts`
    const { nextCursor } = (
      await account.call('POST', path, { body: { from: '2026-11-01T00:00:00Z', limit: 2 } })
    ).body
    const query = new URLSearchParams({ from: '2026-11-01T00:00:00.000Z', cursor: nextCursor })
    expect(days((await account.call('GET', `${path}?${query}`)).body)).toEqual([3, 4, 5])
    const other = await account.call('POST', path, {
      body: { from: '2026-11-02T00:00:00Z', cursor: nextCursor },
    })
    expect([other.body.code, pointers(other)]).toEqual(['invalid-cursor', ['/cursor']])
  })

  test('shows a confined user only alerts and messages of its group’s devices', async () => {
    const { account, first, second } = await seeded()
    const { body: north } = await account.call('POST', '/api/groups', {
      body: { name: 'North', devices: [second] },
    })
    const confined = await createBoundUser(account, { group: north.id, privileges: ['write'] })
    const { alerts } = (await confined.call('GET', '/api/alerts')).body
    expect(alerts.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([second])
    const { messages } = (await confined.call('GET', '/api/account/messages')).body
    expect(messages.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([second])
    const [hidden] = (await account.call('GET', `/api/devices/${first}/alerts`)).body.alerts
    for (const [method, path] of [
      ['GET', `/api/alerts/${hidden.id}`],
      ['POST', `/api/alerts/${hidden.id}/acknowledge`],
      ['POST', `/api/account/messages/${hidden.deliveries[0].id}/retry`],
    ] as const) {
      expect((await confined.call(method, path)).status, path).toBe(404)
    }
    expect((await account.call('GET', `/api/alerts/${hidden.id}`)).body.alert.acknowledged).toBe(
      false,
    )
  })

  test('leaves out the alerts of a deleted device', async () => {
    const { account, first } = await seeded()
    const [alert] = (await account.call('GET', `/api/devices/${first}/alerts`)).body.alerts
    await account.call('DELETE', `/api/devices/${first}`)
    expect((await account.call('GET', `/api/alerts/${alert.id}`)).status).toBe(404)
    expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    expect((await account.call('GET', '/api/account/messages')).body.messages).toHaveLength(1)
  })
})
