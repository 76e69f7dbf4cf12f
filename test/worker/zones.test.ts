import { env } from 'cloudflare:workers'
import { check } from '@placemarkio/check-geojson'
import { describe, expect, test } from 'vitest'
import { openAccount } from '../support/accounts.ts'
import { createGroup } from '../support/groups.ts'
import { createBoundUser } from '../support/users.ts'
import { CIRCLE, createRule, createZone } from '../support/zones.ts'

const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [179, -1],
      [-179, -1],
      [-179, 1],
      [179, 1],
      [179, -1],
    ],
  ],
}

test('a zone is created, read, replaced, changed and deleted under zone', async () => {
  const account = await openAccount()
  const created = await account.call('POST', '/api/zones', {
    body: { name: ' Harbour ', shape: SQUARE },
  })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    success: true,
    zone: {
      id: expect.stringMatching(/^zon_/),
      name: 'Harbour',
      description: '',
      color: '#2563eb',
      shape: SQUARE,
      creation: expect.any(String),
      lastModified: created.body.zone.creation,
    },
  })
  const path = `/api/zones/${created.body.zone.id}`
  expect(created.headers.get('Location')).toBe(path)
  const read = await account.call('GET', path)
  expect(read.body).toEqual(created.body)
  const etag = read.headers.get('ETag') ?? ''
  expect((await account.call('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
  const replaced = await account.call('PUT', path, {
    body: { ...read.body.zone, shape: CIRCLE, color: '#FF0000' },
    headers: { 'If-Match': etag },
  })
  expect(replaced.body.zone).toMatchObject({ shape: CIRCLE, color: '#ff0000', name: 'Harbour' })
  const late = await account.call('PUT', path, {
    body: read.body.zone,
    headers: { 'If-Match': etag },
  })
  expect(late.status).toBe(412)
  const patched = await account.call('PATCH', path, { body: { description: 'north' } })
  expect(patched.body.zone).toMatchObject({ shape: CIRCLE, description: 'north' })
  expect((await account.call('GET', '/api/zones')).body).toMatchObject({
    zones: [patched.body.zone],
    nextCursor: null,
  })
  expect((await account.call('DELETE', path)).body).toEqual({ success: true })
  expect((await account.call('GET', path)).body.code).toBe('zone-not-found')
})

test('a shape that is not valid is refused with a pointer into it', async () => {
  const account = await openAccount()
  const bowTie = [
    [0, 0],
    [1, 1],
    [1, 0],
    [0, 1],
    [0, 0],
  ]
  for (const [shape, pointer] of [
    [{ type: 'Circle', center: [0, 91], radius: 5 }, '/shape/center/1'],
    [{ type: 'Circle', center: [0, 0], radius: 0 }, '/shape/radius'],
    [{ type: 'Line' }, '/shape/type'],
    [{ type: 'Polygon', coordinates: [bowTie] }, '/shape/coordinates/0'],
    [{ type: 'MultiPolygon', coordinates: [[bowTie.slice(0, 4)]] }, '/shape/coordinates/0/0'],
    [{ type: 'Polygon', coordinates: [], bbox: [] }, '/shape/bbox'],
    [
      {
        type: 'Polygon',
        coordinates: [Array.from({ length: 1002 }, (_, at) => [at / 1000, (at % 2) / 1000])],
      },
      '/shape/coordinates/0',
    ],
  ] as const) {
    const reply = await account.call('POST', '/api/zones', { body: { name: 'X', shape } })
    expect(reply.status).toBe(400)
    expect(reply.body.errors[0].pointer).toBe(pointer)
  }
  expect((await account.call('GET', '/api/zones')).body.zones).toEqual([])
})

test('zones go out and come in as one FeatureCollection', async () => {
  const account = await openAccount()
  await createZone(account, { name: 'Circle', description: 'round' })
  await createZone(account, { name: 'Square', shape: SQUARE })
  const exported = await account.call('GET', '/api/zones.geojson')
  expect(check(exported.text)).toMatchObject({ type: 'FeatureCollection' })
  const other = await openAccount()
  const imported = await other.call('POST', '/api/zones.geojson', { body: exported.body })
  expect(imported.status).toBe(201)
  const { zones } = (await other.call('GET', '/api/zones')).body
  expect(zones).toEqual(imported.body.zones)
  expect(zones.map(({ name, description, shape }: never) => [name, description, shape])).toEqual([
    ['Circle', 'round', CIRCLE],
    ['Square', '', SQUARE],
  ])
  const [circle, square] = exported.body.features
  const broken = { ...square, geometry: { type: 'LineString', coordinates: [] } }
  const refused = await other.call('POST', '/api/zones.geojson', {
    body: { type: 'FeatureCollection', features: [circle, broken, { ...circle, properties: {} }] },
  })
  expect(refused.status).toBe(400)
  expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/features/1/geometry/type',
    '/features/2/properties/radius',
  ])
  expect((await other.call('GET', '/api/zones')).body.zones).toHaveLength(2)
})

describe('an account', () => {
  test('has at most 1,000 zones', async () => {
    const account = await openAccount()
    const feature = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [0, 0] },
      properties: { name: 'X', radius: 5 },
    }
    const features = Array(999).fill(feature)
    const body = { type: 'FeatureCollection', features }
    expect((await account.call('POST', '/api/zones.geojson', { body })).status).toBe(201)
    const two = { ...body, features: [feature, feature] }
    const refused = await account.call('POST', '/api/zones.geojson', { body: two })
    expect([refused.status, refused.body.code]).toEqual([409, 'zone-cap-reached'])
    await createZone(account)
    const last = await account.call('POST', '/api/zones', { body: { name: 'X', shape: CIRCLE } })
    expect(last.body.code).toBe('zone-cap-reached')
  })

  test('has at most 20,000 positions in them', async () => {
    const account = await openAccount()
    const ring = Array.from({ length: 1000 }, (_, index) => {
      const angle = (2 * Math.PI * index) / 1000
      return [Math.round(1e5 * Math.cos(angle)) / 1e5, Math.round(1e5 * Math.sin(angle)) / 1e5]
    })
    const shape = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
    const zone = await createZone(account, { shape })
    await env.DB.prepare('UPDATE zones SET vertices = 19500 WHERE id = ?').bind(zone).run()
    const small = { type: 'Polygon', coordinates: [[...ring.slice(0, 500), ring[0]]] }
    const other = await createZone(account, { shape: small })
    const grown = await account.call('PATCH', `/api/zones/${other}`, { body: { shape } })
    expect(grown.body.code).toBe('zone-cap-reached')
    const refused = await account.call('POST', '/api/zones', { body: { name: 'X', shape: CIRCLE } })
    expect(refused.body.code).toBe('zone-cap-reached')
    // Far more than that are refused before their rings are checked, which takes long.
    const open = { type: 'Polygon', coordinates: [ring] }
    const feature = { type: 'Feature', geometry: open, properties: {} }
    const send = (count: number) =>
      account.call('POST', '/api/zones.geojson', {
        body: { type: 'FeatureCollection', features: Array(count).fill(feature) },
      })
    expect((await send(26)).status).toBe(400)
    expect((await send(27)).body.code).toBe('zone-cap-reached')
  })
})

describe('the positions of the zones that rules name', () => {
  const enters = (...zones: string[]) => ({ when: { type: 'enters', zones } })
  const setVertices = (zone: string, vertices: number) =>
    env.DB.prepare('UPDATE zones SET vertices = ? WHERE id = ?').bind(vertices, zone).run()
  const ring = Array.from({ length: 100 }, (_, index) => {
    const angle = (2 * Math.PI * index) / 100
    return [Math.round(1e5 * Math.cos(angle)) / 1e5, Math.round(1e5 * Math.sin(angle)) / 1e5]
  })
  // Without the members of the circle that it replaces.
  const POLYGON = {
    type: 'Polygon',
    coordinates: [[...ring, ring[0]]],
    center: null,
    radius: null,
  }

  test('are at most 100,000, counted for each rule', async () => {
    const account = await openAccount()
    const [large, small] = [await createZone(account), await createZone(account)]
    await setVertices(large, 9996)
    for (let count = 0; count < 10; count++) await createRule(account, enters(large))
    const watch = await createRule(account, enters(small))
    const refused = await account.call('POST', '/api/rules', {
      body: { name: 'X', ...enters(small) },
    })
    expect([refused.status, refused.body.code]).toEqual([409, 'rule-cap-reached'])
    expect(refused.body.detail).toMatch(/at most 100,000 .* 11 rules .* count as 100,000 positions/)
    const more = await account.call('PATCH', `/api/rules/${watch}`, { body: enters(small, large) })
    expect([more.status, more.body.code]).toEqual([409, 'rule-cap-reached'])
    const grown = await account.call('PATCH', `/api/zones/${small}`, { body: { shape: POLYGON } })
    expect([grown.status, grown.body.code]).toEqual([409, 'zone-cap-reached'])
    expect(grown.body.detail).toMatch(/count as 100,000 positions/)
    await createRule(account, { when: { type: 'speed', above: 90 } })
    await setVertices(large, 9000)
    const other = await account.call('PATCH', `/api/zones/${small}`, { body: { shape: POLYGON } })
    expect(other.status).toBe(200)
  })

  test('may be more where they were more before, but do not grow', async () => {
    const account = await openAccount()
    const [large, small] = [await createZone(account), await createZone(account)]
    const rules: string[] = []
    for (let count = 0; count < 10; count++)
      rules.push(await createRule(account, enters(large, small)))
    await setVertices(large, 12_000)
    const edit = (path: string, body: object) => account.call('PATCH', `/api/${path}`, { body })
    expect((await edit(`rules/${rules[0]}`, { name: 'Y' })).status).toBe(200)
    expect((await edit(`rules/${rules[1]}`, enters(large))).status).toBe(200)
    expect((await edit(`rules/${rules[1]}`, enters(large, small))).body.code).toBe(
      'rule-cap-reached',
    )
    expect((await edit(`zones/${small}`, { name: 'Y' })).status).toBe(200)
    expect((await edit(`zones/${large}`, { shape: POLYGON })).status).toBe(200)
  })
})

test('a zone that a rule names is not deleted', async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const rule = await createRule(account, { when: { type: 'enters', zones: [zone] } })
  const refused = await account.call('DELETE', `/api/zones/${zone}`)
  expect([refused.status, refused.body.code]).toEqual([409, 'zone-in-use'])
  await account.call('DELETE', `/api/rules/${rule}`)
  expect((await account.call('DELETE', `/api/zones/${zone}`)).status).toBe(200)
})

test('zones and rules are closed to users confined to a group', async () => {
  const account = await openAccount()
  const { id: group } = await createGroup(account, { name: 'North' })
  const confined = await createBoundUser(account, { group, privileges: ['read', 'write'] })
  for (const path of ['/api/zones', '/api/zones.geojson', '/api/rules'])
    expect((await confined.call('GET', path)).status).toBe(403)
})
