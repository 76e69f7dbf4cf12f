import { describe, expect, test } from 'vitest'
import { accountWindow } from '../../../src/auth/requestLimit.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callAsOperator } from '../../support/http.ts'
import { createUser } from '../../support/users.ts'

const limit = (account: TestAccount, budgets: object) =>
  callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })

describe('limits of one account', () => {
  test('requests in a minute, with the headers that say so', async () => {
    const [limited, other] = [await openAccount(), await openAccount()]
    expect((await limit(limited, { requestsPerMinute: 60 })).status).toBe(200)
    const first = await limited.call('GET', '/api/devices')
    const { count } = accountWindow(limited.id, Date.now())
    expect(first.headers.get('RateLimit')).toMatch(new RegExp(`^"account";r=${60 - count};t=`))
    expect(first.headers.get('RateLimit-Policy')).toContain('"account";q=60;w=60')
    accountWindow(limited.id, Date.now()).count = 59
    expect((await limited.call('GET', '/api/devices')).status).toBe(200)
    const refused = await limited.call('GET', '/api/devices')
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests'])
    expect(refused.headers.get('RateLimit')).toMatch(/^"account";r=0;/)
    const free = await other.call('GET', '/api/devices')
    expect(free.headers.get('RateLimit-Policy')).toContain('"account";q=6000;w=60')
    await limit(limited, { requestsPerMinute: null })
    expect((await limited.call('GET', '/api/devices')).status).toBe(200)
  })

  test('requests are not limited below one a second', async () => {
    const account = await openAccount()
    expect((await limit(account, { requestsPerMinute: 59 })).status).toBe(400)
  })

  test('days of retention: the account can choose fewer, and keeps no more', async () => {
    const account = await openAccount()
    const lowered = await limit(account, { maxRetentionDays: 90 })
    expect(lowered.body.account.retentionDays).toBe(90)
    expect(lowered.body.account.budgets.maxRetentionDays).toBe(90)
    const keep = (retentionDays: number) =>
      account.call('PATCH', '/api/account', { body: { retentionDays } })
    const refused = await keep(91)
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ pointer: '/retentionDays', detail: 'must be at most 90 in this account' }],
    ])
    expect((await keep(30)).body.account.retentionDays).toBe(30)
    expect((await limit(account, { maxRetentionDays: null })).body.account.retentionDays).toBe(30)
    expect((await keep(400)).body.account.retentionDays).toBe(400)
    const { entries } = (await account.call('GET', '/api/account/audit?action=account.updated'))
      .body
    expect(entries.at(-1).changes).toEqual(
      expect.arrayContaining([{ path: 'retentionDays', from: 365, to: 90 }]),
    )
  })

  test('zones, also of an import', async () => {
    const account = await openAccount()
    await limit(account, { maxZones: 2 })
    const shape = { type: 'Circle', center: [-9.1, 38.7], radius: 500 }
    const create = (name: string) => account.call('POST', '/api/zones', { body: { name, shape } })
    const feature = (name: string) => ({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [-9.1, 38.7] },
      properties: { name, radius: 500 },
    })
    const collection = { type: 'FeatureCollection', features: ['a', 'b', 'c'].map(feature) }
    const imported = await account.call('POST', '/api/zones.geojson', { body: collection })
    expect(imported.body.code).toBe('zone-cap-reached')
    expect((await create('First')).status).toBe(201)
    expect((await create('Second')).status).toBe(201)
    expect((await create('Third')).body.code).toBe('zone-cap-reached')
    await limit(account, { maxZones: 3 })
    expect((await create('Third')).status).toBe(201)
  })

  test('users', async () => {
    const account = await openAccount()
    await limit(account, { maxUsers: 1 })
    const person = { country: 'PRT', timeZone: 'Europe/Lisbon' }
    await createUser(account, { name: 'Ana', email: 'ana@example.com', ...person })
    const refused = await account.call('POST', '/api/users', {
      body: { name: 'Rui', email: 'rui@example.com', ...person },
    })
    expect(refused.body.code).toBe('user-limit-reached')
  })
})

describe('the search for accounts', () => {
  const find = async (query: string) => {
    const reply = await callAsOperator('GET', `/admin/accounts?${query}`)
    expect(reply.status, reply.text).toBe(200)
    return reply.body.accounts.map(({ id }: { id: string }) => id)
  }

  test('by name, user name, state and cell', async () => {
    const tag = crypto.randomUUID().slice(0, 8)
    const [first, second] = [await openAccount(), await openAccount({ cell: 1 })]
    const rename = (account: TestAccount, name: string) =>
      callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { name } })
    await rename(first, `Älteste Reederei ${tag}`)
    await rename(second, `Harbour ${tag}`)
    expect(await find(`q=${tag}`)).toEqual([first.id, second.id])
    expect(await find(`q=${encodeURIComponent(`äLTESTE reederei ${tag}`)}`)).toEqual([first.id])
    expect(await find(`q=${second.userName.toUpperCase()}`)).toEqual([second.id])
    expect(await find(`q=${first.id}`)).toEqual([first.id])
    expect(await find(`q=${tag}&cell=1`)).toEqual([second.id])
    expect(await find(`userName=${first.userName.toUpperCase()}`)).toEqual([first.id])
    expect(await find(`userName=${first.userName.slice(0, -1)}`)).toEqual([])
    expect(await find('q=%25')).toEqual([])
    await callAsOperator('PATCH', `/admin/accounts/${first.id}`, { body: { status: 'readOnly' } })
    await callAsOperator('DELETE', `/admin/accounts/${second.id}`)
    expect(await find(`q=${tag}&state=readOnly`)).toEqual([first.id])
    expect(await find(`q=${tag}&state=deleted`)).toEqual([second.id])
    expect(await find(`q=${tag}&state=active`)).toEqual([])
    expect((await callAsOperator('GET', '/admin/accounts?state=late')).status).toBe(400)
  })

  test('in pages', async () => {
    const tag = crypto.randomUUID().slice(0, 8)
    const opened: string[] = []
    for (let index = 0; index < 3; index++) {
      const { id } = await openAccount({ cell: index % 2 })
      await callAsOperator('PATCH', `/admin/accounts/${id}`, { body: { name: `Ship ${tag}` } })
      opened.push(id)
    }
    const first = await callAsOperator('GET', `/admin/accounts?q=${tag}&limit=2`)
    const ids = ({ accounts }: { accounts: { id: string }[] }) => accounts.map(({ id }) => id)
    expect(ids(first.body)).toEqual(opened.slice(0, 2))
    const rest = await callAsOperator(
      'GET',
      `/admin/accounts?q=${tag}&limit=2&cursor=${first.body.nextCursor}`,
    )
    expect([ids(rest.body), rest.body.nextCursor]).toEqual([opened.slice(2), null])
  })
})
