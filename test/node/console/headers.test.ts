import { describe, expect, test } from 'vitest'
import { makeHeaders } from '../../../scripts/build-console.mjs'

const policyOf = (headers: string): string =>
  headers.match(/^\/\*\n(?: {2}.*\n)*? {2}Content-Security-Policy: (.*)$/m)?.[1] ?? ''

describe('the Content-Security-Policy of the console', () => {
  test('admits no other host and nothing inline', () => {
    const policy = policyOf(makeHeaders(''))
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test.each(['https://tiles.example.com/{z}/{x}/{y}.png', 'https://tiles.example.com/style.json'])(
    'admits exactly the host of the map %s',
    (url) => {
      const policy = policyOf(makeHeaders(url))
      const hosts = [...policy.matchAll(/https:[^ ;]+/g)].map(([host]) => host)
      expect([...new Set(hosts)]).toEqual(['https://tiles.example.com'])
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("connect-src 'self' https://tiles.example.com;")
    },
  )

  test('takes no map without https', () => {
    expect(() => makeHeaders('http://tiles.example.com/style.json')).toThrow('https')
  })
})
