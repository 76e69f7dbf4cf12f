import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { stepsOf } from '../../console/api/changes.ts'
import { openCell } from '../../src/db/open.ts'
import { updateGroup } from '../../src/groups/edit.ts'
import { findGroup } from '../../src/groups/store.ts'
import { openAccount } from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import { createGroup } from '../support/groups.ts'

test('a group is created, read, replaced and deleted, flat beside success', async () => {
  const account = await openAccount()
  const [one, two] = [await createDevice(account), await createDevice(account)]
  const created = await account.call('POST', '/api/groups', {
    body: { name: ' North ', description: 'ships', devices: [two, one, two] },
  })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    success: true,
    id: expect.stringMatching(/^grp_/),
    name: 'North',
    description: 'ships',
    devices: [one, two],
    creation: expect.any(String),
    lastModified: created.body.creation,
  })
  const path = `/api/groups/${created.body.id}`
  expect(created.headers.get('Location')).toBe(path)
  const read = await account.call('GET', path)
  expect(read.body).toEqual(created.body)
  expect((await account.call('GET', `/api/devices/${one}`)).body.device.groups).toEqual([
    created.body.id,
  ])

  const replaced = await account.call('PUT', path, {
    body: { ...read.body, name: 'South', devices: [two] },
  })
  expect(replaced.body).toMatchObject({
    name: 'South',
    description: 'ships',
    devices: [two],
    creation: created.body.creation,
  })
  expect((await account.call('PUT', path, { body: { name: 'South' } })).body).toMatchObject({
    description: '',
    devices: [],
  })

  expect((await account.call('DELETE', path)).body).toEqual({ success: true })
  expect((await account.call('GET', path)).status).toBe(404)
  expect((await account.call('DELETE', path)).status).toBe(404)
})

test('names are unique in the account without regard to case, and free in another', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const first = await createGroup(account, { name: 'Straße' })
  const second = await account.call('POST', '/api/groups', { body: { name: 'STRASSE' } })
  expect(second.status).toBe(201)
  for (const name of ['straße', 'strasse'])
    expect((await account.call('POST', '/api/groups', { body: { name } })).body).toMatchObject({
      status: 409,
      code: 'name-taken',
      errors: [{ pointer: '/name', detail: 'is used by another group' }],
    })
  expect(
    (await account.call('PATCH', `/api/groups/${second.body.id}`, { body: { name: 'STRAßE' } }))
      .body.code,
  ).toBe('name-taken')
  expect(
    (await account.call('PATCH', `/api/groups/${first.id}`, { body: { name: 'STRAßE' } })).body
      .name,
  ).toBe('STRAßE')
  expect((await other.call('POST', '/api/groups', { body: { name: 'Straße' } })).status).toBe(201)
})

test('a device of another account is refused like one that does not exist, by its pointer, and nothing is changed', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const [own, foreign] = [await createDevice(account), await createDevice(other)]
  for (const missing of [foreign, 'dev_none', '']) {
    const created = await account.call('POST', '/api/groups', {
      body: { name: 'X', devices: [own, own, missing] },
    })
    expect(created.status).toBe(400)
    expect(created.body.errors).toEqual([
      { pointer: '/devices/2', detail: 'is not a device of this account' },
    ])
  }
  expect((await account.call('GET', '/api/groups')).body.groups).toEqual([])
  const { id } = await createGroup(account, { name: 'X' })
  const patched = await account.call('PATCH', `/api/groups/${id}`, {
    body: { name: 'Y', devices: [own, foreign] },
  })
  expect(patched.body).toMatchObject({ status: 400, errors: [{ pointer: '/devices/1' }] })
  expect((await account.call('GET', `/api/groups/${id}`)).body).toMatchObject({
    name: 'X',
    devices: [],
  })
  expect((await other.call('GET', `/api/groups/${id}`)).status).toBe(404)
  expect((await other.call('DELETE', `/api/groups/${id}`)).status).toBe(404)
})

describe('patches', () => {
  test('JSON Patch adds and removes devices, and a failed test changes nothing', async () => {
    const account = await openAccount()
    const [one, two] = [await createDevice(account), await createDevice(account)]
    const path = `/api/groups/${(await createGroup(account, { name: 'P', devices: [one] })).id}`
    const patch = (body: unknown) => account.call('PATCH', path, { body })
    expect((await patch([{ op: 'add', path: '/devices/-', value: two }])).body.devices).toEqual([
      one,
      two,
    ])
    expect((await patch([{ op: 'add', path: '/devices/-', value: two }])).body.devices).toEqual([
      one,
      two,
    ])
    expect((await patch([{ op: 'remove', path: '/devices/0' }])).body.devices).toEqual([two])
    const failed = await patch([
      { op: 'replace', path: '/name', value: 'Q' },
      { op: 'test', path: '/devices/0', value: one },
    ])
    expect(failed.body).toMatchObject({ status: 409, code: 'patch-test-failed' })
    expect((await patch([{ op: 'replace', path: '/id', value: 'grp_mine' }])).status).toBe(400)
    expect((await patch([{ op: 'add', path: '/colour', value: 'red' }])).body.errors).toEqual([
      { pointer: '/colour', detail: 'is not a known name: check the spelling, or leave it out' },
    ])
    expect((await account.call('GET', path)).body).toMatchObject({ name: 'P', devices: [two] })
  })

  test('a Merge Patch takes a body from GET back, and only edits move the version', async () => {
    const account = await openAccount()
    const one = await createDevice(account)
    const created = await account.call('POST', '/api/groups', {
      body: { name: 'M', devices: [one] },
    })
    const path = `/api/groups/${created.body.id}`
    const etag = created.headers.get('ETag') ?? ''
    const same = await account.call('PATCH', path, {
      body: created.body,
      headers: { 'Content-Type': 'application/merge-patch+json' },
    })
    expect([same.status, same.headers.get('ETag')]).toEqual([200, etag])
    expect((await account.call('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(
      304,
    )

    await account.call('DELETE', `/api/devices/${one}`)
    const after = await account.call('GET', path, { headers: { 'If-None-Match': etag } })
    expect(after.body.devices).toEqual([])
    const edited = await account.call('PATCH', path, {
      body: { name: 'N' },
      headers: { 'If-Match': etag },
    })
    expect(edited.status).toBe(200)
    for (const [method, options] of [
      ['PUT', { body: { name: 'O' } }],
      ['PATCH', { body: { name: 'O' } }],
      ['DELETE', {}],
    ] as const)
      expect(
        (await account.call(method, path, { ...options, headers: { 'If-Match': etag } })).status,
      ).toBe(412)
    expect(
      (
        await account.call('DELETE', path, {
          headers: { 'If-Match': edited.headers.get('ETag') ?? '' },
        })
      ).status,
    ).toBe(200)
  })

  test('ten rivals edit the same version, and one of them wins', async () => {
    const account = await openAccount()
    const created = await account.call('POST', '/api/groups', { body: { name: 'One' } })
    const headers = { 'If-Match': created.headers.get('ETag') ?? '' }
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        account.call('PATCH', `/api/groups/${created.body.id}`, {
          body: { name: `N${n}` },
          headers,
        }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)])
  })

  test('an edit of a version that a rival has left behind since it was read writes nothing', async () => {
    const account = await openAccount()
    const [one, two] = [await createDevice(account), await createDevice(account)]
    const { id } = await createGroup(account, { name: 'One', devices: [one] })
    const db = openCell(env, 0)
    const before = await findGroup(db, account.id, id)
    if (!before) throw new Error('no group')
    expect(
      await updateGroup(db, {
        accountId: account.id,
        before,
        record: { ...before, name: 'Two' },
        now: 1,
      }),
    ).toMatchObject({
      ok: true,
    })
    const late = await updateGroup(db, {
      accountId: account.id,
      before,
      record: { ...before, name: 'Three', devices: [two] },
      now: 2,
    })
    expect(late).toEqual({ ok: false, refusal: 'precondition-failed' })
    expect((await account.call('GET', `/api/groups/${id}`)).body).toMatchObject({
      name: 'Two',
      devices: [one],
    })
    await account.call('DELETE', `/api/groups/${id}`)
    expect(
      await updateGroup(db, {
        accountId: account.id,
        before,
        record: { ...before, devices: [two] },
        now: 3,
      }),
    ).toEqual({
      ok: false,
      refusal: 'group-not-found',
    })
    expect(
      await env.DB.prepare('SELECT 1 FROM group_devices WHERE group_id = ?').bind(id).first(),
    ).toBeNull()
  })

  test('twenty rivals each add a device, and all twenty are in the group', async () => {
    const account = await openAccount({ licenses: 30 })
    const ids = await Promise.all(Array.from({ length: 20 }, () => createDevice(account)))
    const { id } = await createGroup(account, { name: 'Race' })
    const replies = await Promise.all(
      ids.map((value) =>
        account.call('PATCH', `/api/groups/${id}`, {
          body: [{ op: 'add', path: '/devices/-', value }],
        }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(new Set((await account.call('GET', `/api/groups/${id}`)).body.devices)).toEqual(
      new Set(ids),
    )
  })

  test('editors who send their changes for the version they read do not undo each other', async () => {
    const account = await openAccount({ licenses: 12 })
    const ids = await Promise.all(Array.from({ length: 12 }, () => createDevice(account)))
    const [first, second] = [ids.slice(0, 6), ids.slice(6)]
    const { id } = await createGroup(account, { name: 'Race', devices: first })
    const path = `/api/groups/${id}`
    const { body: opened } = await account.call('GET', path)
    /** Each opened the same group, removes one device and adds another. */
    const save = async (removed: string, added: string | undefined) => {
      const devices = opened.devices.filter((one: string) => one !== removed).concat(added)
      for (;;) {
        const { body: current, headers } = await account.call('GET', path)
        const body = stepsOf({ devices: opened.devices }, { devices }, current)
        const sent = { 'If-Match': headers.get('ETag') ?? '' }
        const { status } = await account.call('PATCH', path, { body, headers: sent })
        if (status === 200) return
        expect(status).toBe(412)
      }
    }
    await Promise.all(first.map((removed, at) => save(removed, second[at])))
    const { body: saved } = await account.call('GET', path)
    expect(saved.devices.toSorted()).toEqual(second.toSorted())
  })
})

test('one Idempotency-Key makes one group', async () => {
  const account = await openAccount()
  const send = () =>
    account.call('POST', '/api/groups', {
      body: { name: 'Once' },
      headers: { 'Idempotency-Key': 'k' },
    })
  const [first, second] = [await send(), await send()]
  expect(second.text).toBe(first.text)
  expect(second.headers.get('Idempotent-Replayed')).toBe('true')
  // As after a crash before the answer was kept: a retry after the lease meets the group that the first try made.
  await env.DB.prepare('UPDATE idempotency SET status = NULL, body = NULL WHERE account_id = ?')
    .bind(account.id)
    .run()
  vi.setSystemTime(Date.now() + 31_000)
  const retried = await send()
  vi.useRealTimers()
  expect([retried.status, retried.body.id, retried.headers.get('Idempotent-Replayed')]).toEqual([
    201,
    first.body.id,
    null,
  ])
  expect((await account.call('GET', '/api/groups')).body.groups).toHaveLength(1)
})

test('a device may be in several groups, and a deleted one is in none', async () => {
  const account = await openAccount()
  const [one, two] = [await createDevice(account), await createDevice(account)]
  const groups = [
    await createGroup(account, { name: 'A', devices: [one, two] }),
    await createGroup(account, { name: 'B', devices: [one] }),
  ]
  expect((await account.call('GET', `/api/devices/${one}`)).body.device.groups.sort()).toEqual(
    groups.map(({ id }) => id).sort(),
  )
  await account.call('DELETE', `/api/devices/${one}`)
  const listed = (await account.call('GET', '/api/groups')).body.groups
  expect(listed.map(({ devices }: { devices: string[] }) => devices)).toEqual([[two], []])
  expect(
    await env.DB.prepare('SELECT count(*) AS n FROM group_devices WHERE account_id = ?')
      .bind(account.id)
      .first('n'),
  ).toBe(1)
  await account.call('DELETE', `/api/groups/${groups[0].id}`)
  expect((await account.call('GET', `/api/devices/${two}`)).body.device.groups).toEqual([])
  expect(
    await env.DB.prepare('SELECT count(*) AS n FROM group_devices WHERE account_id = ?')
      .bind(account.id)
      .first('n'),
  ).toBe(0)
})

test('a walk over the list sees every group that stood throughout exactly once; a prefix finds by name', async () => {
  const account = await openAccount()
  const made: string[] = []
  for (const name of ['alpha', 'Beta', 'ALPINE', 'gamma', 'álamo'])
    made.push((await createGroup(account, { name })).id)
  const walk = async (query: string) => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await account.call(
        'GET',
        `/api/groups?limit=2${query}${cursor && `&cursor=${cursor}`}`,
      )
      seen.push(...body.groups.map(({ name }: { name: string }) => name))
      cursor = body.nextCursor
      if (cursor && seen.length === 2 && query === '')
        await account.call('DELETE', `/api/groups/${made[0]}`)
    }
    return seen
  }
  expect(await walk('')).toEqual(['alpha', 'Beta', 'ALPINE', 'gamma', 'álamo'])
  expect(await walk('&q=AL')).toEqual(['ALPINE'])
  expect(await walk('&q=Ál')).toEqual(['álamo'])
  expect(await walk('&q=%25')).toEqual([])
  const { headers } = await account.call('GET', '/api/groups?limit=1')
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1] ?? ''
  expect((await account.call('GET', next)).body.groups[0].name).toBe('ALPINE')
  const other = await openAccount()
  expect((await other.call('GET', next)).body.code).toBe('invalid-cursor')
})
