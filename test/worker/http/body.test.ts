import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { postDevice } from '../../support/devices.ts'

const MIB = 1_048_576
const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...new TextEncoder().encode(part)] : [part],
    ),
  )

const streamed = (...chunks: string[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })

const names = async (account: TestAccount) =>
  (await account.call('GET', '/api/devices')).body.devices.map(({ name }: { name: string }) => name)

test('a body of 1 MiB is accepted and one byte more refused, with and without Content-Length', async () => {
  const account = await openAccount()
  const padTo = (size: number) => `{"name":"Tern"${' '.repeat(size - 15)}}`
  expect(padTo(MIB)).toHaveLength(MIB)
  expect((await postDevice(account, padTo(MIB))).status).toBe(201)
  expect((await postDevice(account, streamed(padTo(MIB)))).status).toBe(201)
  expect((await postDevice(account, streamed('{"name":', '"Ru', 'ff"}'))).status).toBe(201)
  expect((await postDevice(account, padTo(MIB + 1))).status).toBe(413)
  expect((await postDevice(account, streamed(padTo(MIB), ' '))).status).toBe(413)
  expect(await names(account)).toEqual(['Ruff', 'Tern', 'Tern'])
})

test('every spelling of application/json in UTF-8 is accepted, and no other media type', async () => {
  const account = await openAccount()
  const status = async (type: string) =>
    (await postDevice(account, '{"name":"Tern"}', { 'Content-Type': type })).status
  for (const accepted of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ]) {
    expect(await status(accepted), accepted).toBe(201)
  }
  for (const refused of [
    '',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json; version=1',
    'application/jsonx',
    'application/ld+json',
    'text/json',
    '*/*',
  ]) {
    expect(await status(refused), refused).toBe(415)
  }
})

test('every content encoding is refused', async () => {
  const account = await openAccount()
  for (const encoding of ['gzip', 'br', 'deflate', 'x-gzip', 'gzip, gzip']) {
    expect(
      (await postDevice(account, '{"name":"Tern"}', { 'Content-Encoding': encoding })).status,
      encoding,
    ).toBe(415)
  }
})

test('malformed JSON is refused, with a pointer to a malformed string', async () => {
  const account = await openAccount()
  const pointerOf = async (body: string | Uint8Array) => {
    const reply = await postDevice(account, body)
    expect([reply.status, reply.body.code]).toEqual([400, 'malformed-body'])
    return reply.body.errors[0].pointer
  }
  for (const body of [
    '{"name":',
    'name=x',
    "{'name':1}",
    '{"name":"x",}',
    '{"name":NaN}',
    '{}{}',
    '\ufeff\ufeff{}',
    '{"name":"a\tb"}',
    '01',
    ' ',
  ]) {
    expect(await pointerOf(body), body).toBe('')
  }
  for (const body of [
    bytes('{"name":"', 0xff, 0xfe, '"}'),
    bytes('{"name":"', 0xc0, 0x80, '"}'),
    bytes('{"name":"', 0xed, 0xa0, 0x80, '"}'),
    bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0),
    bytes('{"name":"', 0xf0, 0x9f, '"}'),
  ]) {
    expect(await pointerOf(body)).toBe('')
  }
  expect(await pointerOf('{"name":"a\\u0000b"}')).toBe('/name')
  expect(await pointerOf('{"tags":{"a\\u0000/b":"x"}}')).toBe('/tags/a\0~1b')
  expect(await pointerOf('{"tags":{"k":"\\ud83d"}}')).toBe('/tags/k')
  expect(await pointerOf('{"name":"\\ude00\\ud83d"}')).toBe('/name')
  expect(await pointerOf('{"name":"\\ud83d\\ud83d\\ude00"}')).toBe('/name')
  expect(await pointerOf('{"a":[{"b":["ok","\\uD800x"]}]}')).toBe('/a/0/b/1')
  expect(await names(account)).toEqual([])
})

test('well-formed strings are returned as they were sent', async () => {
  const account = await openAccount()
  for (const [sent, name] of [
    ['"\\ud83d\\ude00 \\u0001\\\\u0000"', '😀 \u0001\\u0000'],
    ['"\\\\ud83d"', '\\ud83d'],
    ['"Ünï\u2028code 🛰"', 'Ünï\u2028code 🛰'],
  ] as const) {
    const reply = await postDevice(account, `\ufeff{"name":${sent}}`)
    expect(reply.body.device?.name).toBe(name)
  }
})

test('free-form members have at most 8 KiB, and every name in them is returned or refused', async () => {
  const account = await openAccount()
  const tags = async (json: string) => {
    const { status, body } = await postDevice(account, `{"name":"Tern","tags":${json}}`)
    return status === 201
      ? body.device.tags
      : body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  const filled = (length: number) =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length }, (_, n) => [`k${n}`, 'x'.repeat(1000)])),
    )
  expect(Object.keys(await tags(filled(8)))).toHaveLength(8)
  expect(await tags(filled(9))).toEqual(['/tags'])
  expect(await tags('{"k":1}')).toEqual(['/tags/k'])
  expect(await tags('{"k":{"deep":"x"}}')).toEqual(['/tags/k'])
  expect(await tags('[]')).toEqual(['/tags'])
  expect(await tags('{"constructor":"c","toString":"t","":"empty"}')).toEqual({
    constructor: 'c',
    toString: 't',
    '': 'empty',
  })
  expect(await tags('{"a":"1","__proto__":"x"}')).toEqual(['/tags/__proto__'])
  expect(await tags('{"\\u005F_proto__":"x"}')).toEqual(['/tags/__proto__'])
  expect(await tags('{"__\\u0070roto__":"x"}')).toEqual(['/tags/__proto__'])
  expect(await tags('{"name":"__proto__"}')).toEqual({ name: '__proto__' })
})

test('a body may be wrapped, and a wrapped body has no members beside the wrapper', async () => {
  const account = await openAccount()
  const status = async (body: unknown) => (await postDevice(account, body)).status
  expect(await status({ device: { name: 'Tern' } })).toBe(201)
  expect(
    await status({
      success: true,
      device: { id: 'x', name: 'Ruff', state: 'expired', usage: null },
    }),
  ).toBe(201)
  expect(await status({ device: { name: 'Tern' }, name: 'Ruff' })).toBe(400)
  expect(await status({ device: null })).toBe(400)
  expect(await status({ device: [{ name: 'Tern' }] })).toBe(400)
  expect(await status({ device: { device: { name: 'Tern' } } })).toBe(400)
})

test('the reply of GET can be edited and sent back with PUT', async () => {
  const account = await openAccount()
  const { id } = (await postDevice(account, { name: 'Tern', tags: { a: '1' } })).body.device
  const shown = (await account.call('GET', `/api/devices/${id}`)).body
  shown.device.description = 'Edited'
  const replaced = await account.call('PUT', `/api/devices/${id}`, { body: shown })
  expect(replaced.status).toBe(200)
  expect(replaced.body.device).toEqual({
    ...shown.device,
    lastModified: replaced.body.device.lastModified,
  })
  const flat = await account.call('PUT', `/api/devices/${id}`, {
    body: { success: true, ...shown.device, description: 'Again' },
  })
  expect(flat.body.device.description).toBe('Again')
})

test('at most about twenty errors are listed at once', async () => {
  const account = await openAccount()
  const unknown = Object.fromEntries(
    Array.from({ length: 500 }, (_, number) => [`x${number}`, number]),
  )
  const reply = await postDevice(account, { name: 1, min: 2, ...unknown })
  expect(reply.status).toBe(400)
  expect(reply.body.errors.length).toBeGreaterThan(2)
  expect(reply.body.errors.length).toBeLessThanOrEqual(22)
  const many = Object.fromEntries(
    Array.from({ length: 60_000 }, (_, number) => [`x${number}`, null]),
  )
  const wrapped = await postDevice(account, { device: { name: 'Tern' }, ...many })
  expect([wrapped.status, wrapped.body.errors.length]).toEqual([400, 20])
  const { id } = (await postDevice(account, { name: 'Tern' })).body.device
  const patched = await account.call('PATCH', `/api/devices/${id}`, { body: many })
  expect([patched.status, patched.body.errors.length]).toEqual([400, 20])
})

test('a list that is too long is refused with one error, not one for each entry', async () => {
  const account = await openAccount()
  const { id } = (await postDevice(account, { name: 'Tern' })).body.device
  const ones = Array(125_000).fill(1)
  const location = { dateTime: '2026-01-01T00:00:00Z', latitude: 1, longitude: 2 }
  const user = { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'UTC' }
  for (const [method, path, body, pointer] of [
    ['POST', `/api/devices/${id}/locations`, { ...location, warningTexts: ones }, '/warningTexts'],
    [
      'POST',
      `/api/devices/${id}/locations`,
      { ...location, alerts: ones.map(() => null) },
      '/alerts',
    ],
    ['POST', `/api/devices/${id}/locations`, { ...location, inputs: ones }, '/inputs'],
    [
      'POST',
      `/api/devices/${id}/alerts`,
      { alertName: 'SOSButton', notifications: ones },
      '/notifications',
    ],
    ['POST', '/api/users', { ...user, privileges: ones }, '/privileges'],
    ['PATCH', `/api/devices/${id}`, ones, ''],
  ] as const) {
    const reply = await account.call(method, path, { body })
    expect([
      reply.status,
      reply.body.errors?.map((error: { pointer: string }) => error.pointer),
    ]).toEqual([400, [pointer]])
  }
})
