import { describe, expect, test } from 'vitest'
import { makeHeaders } from '../../../../scripts/build/build-console.mjs'
import { readMapUrl } from '../../../../scripts/build/map-url.mjs'

const policyOf = (headers: string): string =>
  headers.match(/^\/\*\n(?: {2}.*\n)*? {2}Content-Security-Policy: (.*)$/m)?.[1] ?? ''

describe('the Content-Security-Policy of the console', () => {
  test('admits no other host and nothing inline', () => {
    const policy = policyOf(makeHeaders(''))
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'")
    expect(policy).toContain("worker-src 'self'; manifest-src 'self';")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test.each([
    'https://tiles.example.com/{z}/{x}/{y}.png',
    'https://tiles.example.com/style.json',
    'https://tiles.example.com/world.pmtiles?v=2',
    'pmtiles://https://tiles.example.com/world',
  ])('admits exactly the host of the map %s', (url) => {
    const policy = policyOf(makeHeaders(url))
    const hosts = [...policy.matchAll(/https:[^ ;]+/g)].map(([host]) => host)
    expect([...new Set(hosts)]).toEqual(['https://tiles.example.com'])
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self' https://tiles.example.com;")
  })

  test('takes no map without https', () => {
    expect(() => makeHeaders('http://tiles.example.com/style.json')).toThrow('https')
    expect(() => makeHeaders('pmtiles://http://tiles.example.com/world')).toThrow('https')
    expect(policyOf(makeHeaders('http://127.0.0.1:9/a.pmtiles'))).toContain(' http://127.0.0.1:9;')
  })
})

describe('the headers of assets', () => {
  const headers = makeHeaders('')
  const patterns = [...headers.matchAll(/^\/.*$/gm)].map(([pattern]) => pattern)

  test('have another policy for the reference and for the operator alone', () => {
    const others = [
      ...headers.matchAll(/^(\/.*)\n(?: {2}[^!].*\n)* {2}! Content-Security-Policy/gm),
    ]
    expect(others.map(([, pattern]) => pattern)).toEqual(['/operator*', '/docs'])
    // The console is shown at all paths without a file: no other pattern may match one of them.
    const wide = patterns.filter((pattern) => pattern.includes('*'))
    expect(wide).toEqual(['/*', '/console/*', '/operator*'])
  })

  test('let the operator’s pages reach no host of a map, and nobody index or keep them', () => {
    const [, own = ''] =
      /^\/operator\*\n((?: {2}.*\n)*)/m.exec(makeHeaders('https://tiles.example.com/a.json')) ?? []
    expect(own).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(own).toContain("connect-src 'self';")
    expect(own).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'")
    expect(own).toContain('X-Robots-Tag: noindex')
    expect(own).toContain('Cache-Control: no-store')
    expect(own).not.toMatch(/unsafe|https?:/)
  })

  test('tell browsers to come back by TLS only', () => {
    expect(headers).toMatch(/^\/\*\n {2}Strict-Transport-Security: max-age=31536000$/m)
  })
})

describe('MAP_URL', () => {
  test.each([
    ['', 'own'],
    ['https://a.example/style.json', 'style'],
    ['https://a.example/{z}/{x}/{y}.png', 'tiles'],
    ['https://a.example/world.pmtiles', 'pmtiles'],
    ['https://a.example/world.pmtiles?token=x', 'pmtiles'],
    ['pmtiles://https://a.example/world', 'pmtiles'],
  ])('%s is of the kind %s', (text, kind) => {
    expect(readMapUrl(text).kind).toBe(kind)
  })

  test('is an address that a browser can fetch', () => {
    expect(readMapUrl('pmtiles://https://a.example/world').url).toBe('https://a.example/world')
  })
})
