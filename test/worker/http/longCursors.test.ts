import { describe, expect, test } from 'vitest'
import { type Caller, openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { createUser } from '../../support/users.ts'

const MAX_LENGTH = 512
/** Folded it has 3,240 letters, of which a cursor has a few. */
const SHARED = '\ufdfa'.repeat(180)
const NAMES = ['a', 'b', 'c', 'd', 'e'].map((letter) => SHARED + letter)

interface Row {
  id: string
  name: string
}

/** Follows `nextCursor`, two rows a page; `meanwhile` runs after the first page. */
const listNames = async (
  account: Caller,
  path: string,
  meanwhile?: (last: Row) => Promise<unknown>,
): Promise<string[]> => {
  const found: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body, text } = await account.call(
      'GET',
      `${path}limit=2${cursor && `&cursor=${cursor}`}`,
    )
    expect(status, text).toBe(200)
    found.push(...(Object.values(body).find(Array.isArray) as Row[]))
    if (cursor === '') await meanwhile?.(found.at(-1) as Row)
    cursor = body.nextCursor
    expect(cursor?.length ?? 0).toBeLessThanOrEqual(MAX_LENGTH)
  }
  return found.map(({ name }) => name.slice(SHARED.length))
}

describe('names that share a long beginning', () => {
  test('devices are listed once each, in both orders, whole or of a group', async () => {
    const account = await openAccount()
    const devices: string[] = []
    for (const name of NAMES) devices.push(await createDevice(account, { name }))
    const { id: group } = await createGroup(account, { name: 'All', devices })
    for (const filter of ['', `group=${group}&`, 'q=%EF%B7%BA&', 'state=active&']) {
      const list = (sort: string) => listNames(account, `/api/devices?${filter}sort=${sort}&`)
      expect(await list('name'), filter).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(await list('-name'), filter).toEqual(['e', 'd', 'c', 'b', 'a'])
    }
  })

  test.each(['name', '-name'])(
    'a device that is renamed between two pages by %s hides no other',
    async (sort) => {
      const account = await openAccount()
      for (const name of NAMES) await createDevice(account, { name })
      const rename = ({ id }: Row) =>
        account.call('PATCH', `/api/devices/${id}`, { body: { name: `${SHARED}m` } })
      const names = await listNames(account, `/api/devices?sort=${sort}&`, rename)
      const renamed = sort === 'name' ? 'b' : 'd'
      const others = ['a', 'b', 'c', 'd', 'e'].filter((name) => name !== renamed)
      expect(names).toEqual(expect.arrayContaining(others))
    },
  )

  test('groups and users are found once each', async () => {
    const account = await openAccount()
    for (const name of NAMES) {
      await createGroup(account, { name })
      await createUser(account, { name, email: `${name.at(-1)}@example.com` })
    }
    for (const list of ['groups', 'users'])
      expect(await listNames(account, `/api/${list}?q=%EF%B7%BA&`), list).toEqual([
        'a',
        'b',
        'c',
        'd',
        'e',
      ])
  })
})

test('an empty cursor and one of more than 512 characters are refused, and the field is named', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const tooLong = 'x'.repeat(MAX_LENGTH + 1)
  for (const cursor of ['', tooLong]) {
    const inUrl = await account.call('GET', `/api/devices?cursor=${cursor}`)
    expect(inUrl).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', errors: [{ pointer: '#/query/cursor' }] },
    })
    const body = { from: '2026-11-14T00:00:00Z', cursor }
    const inBody = await account.call('POST', `/api/devices/${device}/locations`, { body })
    expect(inBody).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', errors: [{ pointer: '/cursor' }] },
    })
  }
  const forged = await account.call('GET', `/api/devices?cursor=${tooLong.slice(1)}`)
  expect([forged.status, forged.body.code]).toEqual([400, 'invalid-cursor'])
})
