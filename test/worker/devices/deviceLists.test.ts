import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { applyEffects } from '../../../src/ledger/outbox/projection/applyEffects.ts'
import { type Caller, openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { callAsOperator } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

interface Listed {
  id: string
  name: string
}

/** Follows `nextCursor` to the end, two devices a page. */
const list = async (caller: Caller, query = ''): Promise<Listed[]> => {
  const found: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/api/devices?limit=2&${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { status, body, text } = await caller.call('GET', path)
    expect(status, text).toBe(200)
    found.push(...body.devices)
    cursor = body.nextCursor
  }
  return found
}
const namesOf = async (caller: Caller, query = '') =>
  (await list(caller, query)).map(({ name }) => name)

/** Five devices, of which four are in a group; B and b have the same sort key. */
const openFleet = async () => {
  const account = await openAccount()
  const ids: Record<string, string> = {}
  for (const name of ['D', 'B', 'x', 'b', 'A'])
    ids[name] = await createDevice(account, {
      name,
      identifier: `IMEI ${name === 'b' ? 'bb' : name}`,
    })
  const { x: _, ...members } = ids
  const group = (await createGroup(account, { name: 'North', devices: Object.values(members) })).id
  const ana = await createBoundUser(account, { group, privileges: ['admin'] })
  return { account, ids: ids as Record<'A' | 'B' | 'D' | 'b' | 'x', string>, group, ana }
}

describe('the devices of a group', () => {
  test('are listed in every order, page by page, to the account and to a confined user', async () => {
    const { account, group, ana } = await openFleet()
    for (const [sort, names] of [
      ['name', ['A', 'B', 'b', 'D']],
      ['-name', ['D', 'b', 'B', 'A']],
      ['creation', ['D', 'B', 'b', 'A']],
      ['-creation', ['A', 'b', 'B', 'D']],
    ] as const) {
      expect(await namesOf(account, `sort=${sort}&group=${group}`)).toEqual(names)
      expect(await namesOf(ana, `sort=${sort}`)).toEqual(names)
      expect(await namesOf(ana, `sort=${sort}&q=b`)).toEqual(
        names.filter((name) => /b/i.test(name)),
      )
      expect(await namesOf(ana, `sort=${sort}&state=active`)).toEqual(names)
      expect(await namesOf(ana, `sort=${sort}&state=expired`)).toEqual([])
    }
  })

  test('are listed by their new name once one is renamed, and a late repeat changes nothing', async () => {
    const { account, ids, group, ana } = await openFleet()
    const before = (await account.call('GET', `/api/devices/${ids.A}`)).body.device
    await account.call('PATCH', `/api/devices/${ids.A}`, { body: { name: 'Cc' } })
    expect(await namesOf(ana)).toEqual(['B', 'b', 'Cc', 'D'])
    expect(await namesOf(account, `group=${group}&sort=-name`)).toEqual(['D', 'Cc', 'b', 'B'])
    const { key } = (await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
      .bind(ids.A)
      .first<{ key: number }>()) ?? { key: 0 }
    const device = {
      ...before,
      key,
      creation: Date.parse(before.creation),
      lastModified: 0,
      version: 2,
    }
    await applyEffects(openCell(env, 0), account.id, [{ kind: 'device', device, seq: 0 }], 0)
    expect(await namesOf(ana)).toEqual(['B', 'b', 'Cc', 'D'])
  })

  test('include one that a confined user creates, in its place', async () => {
    const { ana } = await openFleet()
    await createDevice(ana, 'c')
    expect(await namesOf(ana)).toEqual(['A', 'B', 'b', 'c', 'D'])
    expect(await namesOf(ana, 'sort=-creation')).toEqual(['c', 'A', 'b', 'B', 'D'])
  })

  test('that were members before the sort values existed are sorted by the migration, or by reconcile', async () => {
    const { account, group, ana } = await openFleet()
    const evict = () =>
      env.DB.prepare(`UPDATE group_devices SET name_key = '', creation = 0 WHERE group_id = ?`)
        .bind(group)
        .run()
    const migration = env.TEST_MIGRATIONS.find(({ name }) => /_list_indexes\.sql$/.test(name))
    const fill = migration?.queries.find((query) => query.includes('UPDATE `group_devices`')) ?? ''
    await evict()
    expect(await namesOf(ana)).not.toEqual(['A', 'B', 'b', 'D'])
    await env.DB.prepare(fill).run()
    expect(await namesOf(ana)).toEqual(['A', 'B', 'b', 'D'])
    await evict()
    await callAsOperator('POST', `/admin/accounts/${account.id}/reconcile`)
    expect(await namesOf(ana)).toEqual(['A', 'B', 'b', 'D'])
    expect(await namesOf(ana, 'sort=creation')).toEqual(['D', 'B', 'b', 'A'])
  })

  test('that another statement has removed leave no gap at the end of a page', async () => {
    const { account, ids, group } = await openFleet()
    // Only a restored cell has a member that is no device.
    await env.DB.prepare('DELETE FROM devices WHERE id IN (?, ?)').bind(ids.A, ids.B).run()
    expect(await namesOf(account, `group=${group}`)).toEqual(['b', 'D'])
  })
})

describe('devices of the same name', () => {
  test('are each listed once, in both directions', async () => {
    const account = await openAccount()
    for (const name of ['Tern', 'tern', 'TERN', 'Tern', 'Auk']) await createDevice(account, name)
    for (const sort of ['name', '-name']) {
      const found = await list(account, `sort=${sort}`)
      expect(new Set(found.map(({ id }) => id)).size).toBe(5)
      expect(found).toHaveLength(5)
    }
  })
})

describe('contains=', () => {
  test('finds any part of a name or an identifier, as it is folded, in every order', async () => {
    const account = await openAccount()
    for (const [name, identifier] of [
      ['Great TERN 7', '300-A'],
      ['Arctic tern', null],
      ['Auk', 'tern-1'],
      ['Λάρος', null],
      ['50% of_all', null],
    ] as const)
      await createDevice(account, { name, identifier })
    const find = (part: string, more = '') =>
      namesOf(account, `contains=${encodeURIComponent(part)}${more}`)
    expect(await find('TERN')).toEqual(['Arctic tern', 'Auk', 'Great TERN 7'])
    expect(await find('tern', '&sort=-creation')).toEqual(['Auk', 'Arctic tern', 'Great TERN 7'])
    expect(await find('ｔｅｒｎ 7')).toEqual(['Great TERN 7'])
    expect(await find('00-a')).toEqual(['Great TERN 7'])
    expect(await find('ΡΟΣ')).toEqual(['Λάρος'])
    // No wildcards.
    expect(await find('%')).toEqual(['50% of_all'])
    expect(await find('f_a')).toEqual(['50% of_all'])
    expect(await find('t%n')).toEqual([])
    expect(await find('tern', '&q=a')).toEqual(['Arctic tern', 'Auk'])
    expect(await find('tern', '&state=expired')).toEqual([])
    expect(await find('  ')).toHaveLength(5)
    expect(await namesOf(await openAccount(), 'contains=tern')).toEqual([])
  })

  test('finds only what the caller sees', async () => {
    const { account, group, ana } = await openFleet()
    expect(await namesOf(account, 'contains=mei')).toEqual(['A', 'B', 'b', 'D', 'x'])
    expect(await namesOf(account, `contains=mei&group=${group}`)).toEqual(['A', 'B', 'b', 'D'])
    expect(await namesOf(ana, 'contains=mei&sort=-name')).toEqual(['D', 'b', 'B', 'A'])
    expect(await namesOf(ana, 'contains=x')).toEqual([])
  })

  test('takes at most 200 characters', async () => {
    const account = await openAccount()
    const { status, body } = await account.call('GET', `/api/devices?contains=${'x'.repeat(201)}`)
    expect([status, body.errors[0].pointer]).toEqual([400, '#/query/contains'])
  })
})

describe('identifier=', () => {
  test('finds the one device that has it, in any case and nothing but the whole', async () => {
    const { account, group, ana } = await openFleet()
    for (const identifier of ['IMEI B', 'imei b', ' ImEi b '])
      expect(await namesOf(account, `identifier=${encodeURIComponent(identifier)}`)).toEqual(['B'])
    expect(await namesOf(account, 'identifier=IMEI%20')).toEqual([])
    expect(await namesOf(account, 'identifier=IMEI%20x')).toEqual(['x'])
    // Each further filter must match too.
    expect(await namesOf(ana, 'identifier=IMEI%20x')).toEqual([])
    expect(await namesOf(account, `identifier=IMEI%20x&group=${group}`)).toEqual([])
    expect(await namesOf(account, 'identifier=IMEI%20x&state=expired')).toEqual([])
    expect(await namesOf(account, 'identifier=IMEI%20x&q=x')).toEqual(['x'])
    expect(await namesOf(await openAccount(), 'identifier=IMEI%20x')).toEqual([])
  })

  test.each(['', '%20', 'x'.repeat(65)])('must be text of 1 to 64 characters: %j', async (text) => {
    const { status, body } = await (await openAccount()).call(
      'GET',
      `/api/devices?identifier=${text}`,
    )
    expect([status, body.errors[0].pointer]).toEqual([400, '#/query/identifier'])
  })
})

describe('ids=', () => {
  test('finds these devices in the order of the list, without those that are unknown', async () => {
    const { account, ids, group, ana } = await openFleet()
    const other = await createDevice(await openAccount(), 'Foreign')
    const wanted = `ids=${[ids.x, ids.b, 'dev_none', ids.A, other, ids.A, ids.B]}`
    expect(await namesOf(account, wanted)).toEqual(['A', 'B', 'b', 'x'])
    expect(await namesOf(account, `${wanted}&sort=-creation`)).toEqual(['A', 'b', 'x', 'B'])
    expect(await namesOf(ana, wanted)).toEqual(['A', 'B', 'b'])
    expect(await namesOf(account, `${wanted}&group=${group}`)).toEqual(['A', 'B', 'b'])
    expect(await namesOf(account, `${wanted}&q=B`)).toEqual(['B', 'b'])
    expect(await namesOf(account, `${wanted}&identifier=IMEI%20x`)).toEqual(['x'])
    expect(await namesOf(account, `${wanted}&state=expired`)).toEqual([])
    expect(await namesOf(account, `ids=${other}`)).toEqual([])
    expect(await namesOf(account, `ids=${ids.A},`)).toEqual(['A'])
  })

  test('takes up to a hundred, and at least one', async () => {
    const account = await openAccount()
    const id = await createDevice(account, 'One')
    const ask = (count: number) => {
      const unknown = Array.from({ length: count - 1 }, (_, n) => `dev_${n}`)
      return account.call('GET', `/api/devices?ids=${[...unknown, id]}`)
    }
    expect((await ask(100)).body.devices.map((device: Listed) => device.id)).toEqual([id])
    expect((await ask(101)).status).toBe(400)
    for (const empty of ['', ',', ',,'])
      expect((await account.call('GET', `/api/devices?ids=${empty}`)).status).toBe(400)
  })
})
