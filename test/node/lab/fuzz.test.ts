import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createChecker } from '../../../lab/fuzz/check.mjs'
import { readDocument } from '../../../lab/fuzz/document.mjs'
import { createCompiler } from '../../../lab/fuzz/schema.mjs'
import { shrink } from '../../../lab/fuzz/shrink.mjs'
import { createRandom } from '../../../lab/harness/random.mjs'

const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))
const contract = readDocument(document)
const check = createChecker(contract)

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
  'perigee-version': '2026-11-18',
  'cache-control': 'no-store',
  etag: '"1.x"',
  'ratelimit-policy': '"account";q=6000;w=60',
  ratelimit: '"account";r=1;t=1',
}
const problem = {
  success: false,
  error: 'Nothing is found here.',
  type: '/problems/device-not-found',
  title: 'Device not found',
  status: 404,
  detail: 'Nothing is found here.',
  code: 'device-not-found',
  instance: '/api/devices/dev_1',
  requestId: 'r',
}
const findFaults = (
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

test('a reply that keeps the document has no fault', () => {
  expect(findFaults(200, { success: true, device })).toEqual([])
  expect(findFaults(404, problem, asProblem)).toEqual([])
})

test('each difference from the document is a fault', () => {
  expect(findFaults(500, problem, asProblem)).toEqual(['a 500 (device-not-found)'])
  expect(findFaults(418, {})).toEqual(['an undocumented status 418'])
  expect(findFaults(200, { success: true, device: { ...device, state: 'lost' } })).toEqual([
    'a 200 that does not match its schema: enum active, expired at /device/state',
  ])
  expect(findFaults(200, { success: true, device }, { headers: { etag: undefined } })).toEqual([
    'a 200 without ETag',
  ])
  expect(
    findFaults(200, { success: true, device }, { headers: { 'content-type': 'text/html' } }),
  ).toHaveLength(1)
  expect(findFaults(404, { ...problem, status: 400 }, asProblem)).toEqual([
    'a problem with status 400 in a 404',
  ])
  expect(findFaults(404, { ...problem, code: 'conflict' }, asProblem)).toEqual([
    'an undocumented problem conflict with a 404',
  ])
  expect(findFaults(401, { ...problem, status: 401, code: 'token-missing' }, asProblem)).toEqual([
    'a 401 without WWW-Authenticate',
  ])
})

test('a reply that shows something deleted or of another account is a fault', () => {
  const faultsFor = (entry: object) =>
    findFaults(200, { success: true, device }, { template: { entries: [entry] } })
  expect(faultsFor({ kind: 'deviceId', side: 'mine', isDeleted: false })).toEqual([])
  expect(faultsFor({ kind: 'deviceId', side: 'other', isDeleted: false })).toEqual([
    'a 200 for a deviceId that is another account’s',
  ])
  expect(faultsFor({ kind: 'deviceId', side: 'mine', isDeleted: true })).toEqual([
    'a 200 for a deviceId that is deleted',
  ])
})

test('accepting a body that the document does not allow is a fault', () => {
  const posted = (body: string) =>
    findFaults(
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

test('an unknown schema keyword or format is an error', () => {
  expect(() => createCompiler({})({ type: 'string', contentEncoding: 'base64' })).toThrow(
    'contentEncoding',
  )
  expect(() => createCompiler({})({ type: 'string', format: 'hostname' })).toThrow('hostname')
})

test('the same seed gives the same random numbers, another seed others', () => {
  const draw = (seed: number) => Array.from({ length: 20 }, createRandom(seed).next)
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('a history shrinks to the requests that cause the fault', async () => {
  const needed = [3, 17, 40]
  const history = Array.from({ length: 50 }, (_, index) => index)
  const fails = async (steps: number[]) => needed.every((step) => steps.includes(step))
  expect(await shrink(history, 99, fails)).toEqual([...needed, 99])
  expect(await shrink(history, 99, async () => false)).toBeNull()
})
