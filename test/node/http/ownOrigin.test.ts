import { expect, test } from 'vitest'
import type { Context } from '../../../src/http/context.ts'
import { refuseOtherPages, requireOwnOrigin } from '../../../src/http/ownOrigin.ts'

const isAllowed = (url: string, origin: string | undefined, publicUrl?: string): boolean => {
  const c = { req: { url, header: () => origin }, env: { PUBLIC_URL: publicUrl } }
  const check = url.endsWith('/mcp') ? refuseOtherPages : requireOwnOrigin
  try {
    check(c as unknown as Context)
    return true
  } catch {
    return false
  }
}

const PUBLIC_URL = 'https://perigee.example'

test('with PUBLIC_URL only its own pages may call /mcp, whatever the request names', () => {
  expect(isAllowed(`${PUBLIC_URL}/mcp`, PUBLIC_URL, PUBLIC_URL)).toBe(true)
  // A name of a stranger that resolves to this machine.
  expect(isAllowed('http://evil.example:8787/mcp', 'http://evil.example:8787', PUBLIC_URL)).toBe(
    false,
  )
  expect(isAllowed(`${PUBLIC_URL}/mcp`, 'https://evil.example', PUBLIC_URL)).toBe(false)
  expect(isAllowed(`${PUBLIC_URL}/mcp`, undefined, PUBLIC_URL)).toBe(true)
})

test('the cookie of each name of the service is used by the pages of that name', () => {
  const refresh = '/api/Auth/Refresh'
  const other = 'https://perigee.someone.workers.dev'
  expect(isAllowed(PUBLIC_URL + refresh, PUBLIC_URL, PUBLIC_URL)).toBe(true)
  expect(isAllowed(other + refresh, other, PUBLIC_URL)).toBe(true)
  expect(isAllowed(PUBLIC_URL + refresh, 'https://evil.example', PUBLIC_URL)).toBe(false)
  expect(isAllowed(PUBLIC_URL + refresh, undefined, PUBLIC_URL)).toBe(false)
})

test('a local service is used by each of its loopback addresses', () => {
  const local = 'http://localhost:8787'
  for (const own of ['http://127.0.0.1:8787', 'http://[::1]:8787', local])
    expect(isAllowed(`${own}/api/Auth/Refresh`, own, local), own).toBe(true)
  expect(isAllowed('http://127.0.0.1:8787/mcp', 'http://localhost:9000', local)).toBe(false)
  const name = 'http://127.0.0.1.evil.example'
  expect(isAllowed(`${name}/mcp`, name, local)).toBe(false)
})

test('without PUBLIC_URL the address of the request is the best that there is', () => {
  expect(isAllowed('https://other.example/mcp', 'https://other.example')).toBe(true)
  expect(isAllowed('https://other.example/mcp', 'https://evil.example')).toBe(false)
})
