import { expect, test } from 'vitest'
import type { Context } from '../../../src/http/context.ts'
import { NEWEST_VERSION } from '../../../src/http/version/versions.ts'
import { apiOf } from '../../../src/mcp/api.ts'
import { boundedText } from '../../../src/mcp/tool.ts'

test('tools speak the newest version, whatever the key pins', async () => {
  const raw = new Request('https://perigee.example/mcp')
  const get = (name: string) => (name === 'principal' ? { accountId: 'acc_1' } : 'request-1')
  const c = { req: { raw, url: raw.url, header: () => undefined }, get, env: {} }
  const versions: (string | null)[] = []
  const serve = (request: Request) => {
    versions.push(request.headers.get('Perigee-Version'))
    return Response.json({ success: true })
  }
  const api = apiOf(c as unknown as Context, serve, 'token')
  await api('GET', '/api/me')
  await api('POST', '/api/devices/dev_1/sendCommand', { body: {}, waitsOutside: true })
  expect(versions).toEqual([NEWEST_VERSION, NEWEST_VERSION])
})

test('a result that is too long without rows says how to ask for less', () => {
  const text = boundedText({ summary: 'Usage.', data: { days: 'x'.repeat(40_000) } })
  expect(text).toMatch(/^Usage\. .*too long.*smaller limit, a shorter span/)
})
