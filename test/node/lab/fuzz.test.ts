import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checker } from '../../../lab/fuzz/check.mjs'
import { readDocument } from '../../../lab/fuzz/document.mjs'
import { random } from '../../../lab/fuzz/random.mjs'
import { compiler } from '../../../lab/fuzz/schema.mjs'
import { shrink } from '../../../lab/fuzz/shrink.mjs'

const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))
const contract = readDocument(document)
const check = checker(contract)

const { device } =
  document.paths['/api/devices'].post.responses['201'].content['application/json'].examples.default
    .value
const template = {
  operation: 'readDevice',
  as: 'mine',
  mode: 'valid',
  method: 'GET',
  entries: [] as object[],
}
const request = { method: 'GET', path: '/api/devices/dev_1', headers: {} }
const headers = {
  'content-type': 'application/json',
  'x-request-id': 'r',
  'cache-control': 'no-store',
  etag: '"1.x"',
  'ratelimit-policy': '"account";q=6000;w=60',
  ratelimit: '"account";r=1;t=1',
}
const problem = {
  success: false,
  error: 'There is nothing here.',
  type: '/problems/not-found',
  title: 'Not found',
  status: 404,
  detail: 'There is nothing here.',
  code: 'not-found',
  instance: '/api/devices/dev_1',
  requestId: 'r',
}
const faults = (
  status: number,
  json: unknown,
  more: { template?: object; headers?: object; request?: object } = {},
) =>
  check({
    template: { ...template, ...more.template },
    request: { ...request, ...more.request },
    reply: { status, json, text: JSON.stringify(json), headers: { ...headers, ...more.headers } },
  })
const asProblem = { headers: { 'content-type': 'application/problem+json' } }

test('a reply that keeps its promises has no fault', () => {
  expect(faults(200, { success: true, device })).toEqual([])
  expect(faults(404, problem, asProblem)).toEqual([])
})

test('each broken promise is told', () => {
  expect(faults(500, problem, asProblem)).toEqual(['a 500 (not-found)'])
  expect(faults(418, {})).toEqual(['an undocumented status 418'])
  expect(faults(200, { success: true, device: { ...device, state: 'lost' } })).toEqual([
    'a 200 that does not match its schema: enum active, expired at /device/state',
  ])
  expect(faults(200, { success: true, device }, { headers: { etag: undefined } })).toEqual([
    'a 200 without ETag',
  ])
  expect(
    faults(200, { success: true, device }, { headers: { 'content-type': 'text/html' } }),
  ).toHaveLength(1)
  expect(faults(404, { ...problem, status: 400 }, asProblem)).toEqual([
    'a problem that says 400 with a 404',
  ])
  expect(faults(404, { ...problem, code: 'conflict' }, asProblem)).toEqual([
    'an undocumented problem conflict with a 404',
  ])
  expect(faults(401, { ...problem, status: 401, code: 'unauthorized' }, asProblem)).toEqual([
    'a 401 without WWW-Authenticate',
  ])
})

test('to be shown what is another account’s, or deleted, is a fault', () => {
  const shown = (entry: object) =>
    faults(200, { success: true, device }, { template: { entries: [entry] } })
  expect(shown({ kind: 'deviceId', side: 'mine', gone: false })).toEqual([])
  expect(shown({ kind: 'deviceId', side: 'other', gone: false })).toEqual([
    'a 200 for a deviceId that is another account’s',
  ])
  expect(shown({ kind: 'deviceId', side: 'mine', gone: true })).toEqual([
    'a 200 for a deviceId that is deleted',
  ])
})

test('to accept what the document refuses is a fault', () => {
  const posted = (body: string) =>
    faults(
      201,
      { success: true, device },
      {
        template: { operation: 'createDevice', method: 'POST' },
        request: { method: 'POST', body, headers: { 'Content-Type': 'application/json' } },
        headers: { location: '/api/devices/dev_1' },
      },
    )
  expect(posted('{"name":"Tern"}')).toEqual([])
  expect(posted('{"name":"Tern","colour":"red"}')).toHaveLength(1)
})

test('a schema keyword that nobody looks at is an error, not a pass', () => {
  expect(() => compiler({})({ type: 'string', contentEncoding: 'base64' })).toThrow(
    'contentEncoding',
  )
  expect(() => compiler({})({ type: 'string', format: 'hostname' })).toThrow('hostname')
})

test('the same seed gives the same chance, another seed another', () => {
  const draw = (seed: number) => Array.from({ length: 20 }, random(seed).next)
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('a history shrinks to the requests that the fault needs', async () => {
  const needed = [3, 17, 40]
  const history = Array.from({ length: 50 }, (_, index) => index)
  const fails = async (steps: number[]) => needed.every((step) => steps.includes(step))
  expect(await shrink(history, 99, fails)).toEqual([...needed, 99])
  expect(await shrink(history, 99, async () => false)).toBeNull()
})
