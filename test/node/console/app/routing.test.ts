import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unstable_readConfig as readConfig } from 'wrangler'
import { app, isOwnPath, serve } from '../../../../src/app.ts'
import type { Env } from '../../../../src/env.ts'

const { assets } = readConfig({ config: 'wrangler.toml' })

const workerPaths = [...new Set(app.routes.map(({ path }) => path))]
  .filter((path) => !path.startsWith('/*') && path !== '*' && path !== '/')
  .map((path) => path.replaceAll(/:(\w+)/g, 'x'))

const PAGE = { body: '<html>', type: 'text/html; charset=utf-8' }
const FILES = new Map([['/console/app.js', { body: 'app', type: 'text/javascript' }]])
const ASSETS = {
  fetch: async ({ method, url }: Request) => {
    if (method !== 'GET' && method !== 'HEAD') return new Response(null, { status: 405 })
    const { body, type } = FILES.get(new URL(url).pathname) ?? PAGE
    return new Response(body, { headers: { 'Content-Type': type, 'Cache-Control': 'from-assets' } })
  },
}
const send = (method: string, path: string) => {
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
  const request = new Request(`https://perigee.test${path}`, { method })
  return serve(request, { ASSETS } as unknown as Env, context as unknown as ExecutionContext)
}

describe('paths that are no assets', () => {
  test('show the console, after the Worker was asked', () => {
    expect(assets?.not_found_handling).toBe('single-page-application')
    expect(assets?.run_worker_first).toBe(true)
  })

  test.each(workerPaths)('%s is answered by the Worker in any letter case', (path) => {
    expect([path, path.toUpperCase(), path.toLowerCase()].map(isOwnPath)).toEqual(
      Array(3).fill(true),
    )
  })

  test('no page of the console has an address of the Worker', () => {
    const source = readFileSync('console/app/routes.ts', 'utf8')
    const pages = [...source.matchAll(/'(\/[\w/:-]*)'/g)].map(([, path = '']) => path)
    expect(pages).toContain('/devices/:deviceId')
    expect(pages.filter(isOwnPath)).toEqual([])
  })
})

describe('a request', () => {
  test.each([
    ['POST', '/API/AUTH/TOKEN'],
    ['POST', '/Api/auth/token'],
    ['GET', '/API/devices'],
    ['GET', '/HEALTHZ'],
    ['GET', '//api/openapi.json'],
    ['POST', '/IN/src_1/secret'],
    ['POST', '/devices'],
    ['DELETE', '/'],
    ['GET', '/console/missing.js'],
  ])('%s %s gets a problem document', async (method, path) => {
    const reply = await send(method, path)
    expect(reply.status).toBe(404)
    expect(reply.headers.get('Content-Type')).toBe('application/problem+json')
    expect(reply.headers.get('Cache-Control')).toBe('no-store')
    expect(await reply.json()).toMatchObject({ code: 'route-not-found' })
  })

  test('in another letter case gets the reason: paths match exactly', async () => {
    const reply = await send('POST', '/API/AUTH/TOKEN')
    expect(await reply.json()).toMatchObject({ detail: expect.stringContaining('letter case') })
  })

  test.each([
    ['/', '<html>'],
    ['/devices/dev_1', '<html>'],
    ['/console/app.js', 'app'],
  ])('GET %s gets the reply of the assets as it is', async (path, body) => {
    const reply = await send('GET', path)
    expect(reply.headers.get('Cache-Control')).toBe('from-assets')
    expect(await reply.text()).toBe(body)
    expect((await send('HEAD', path)).headers.get('Cache-Control')).toBe('from-assets')
  })
})
