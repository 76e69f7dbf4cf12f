import { expect, test } from 'vitest'
import { releaseSlots, tryAcquireSlot } from '../../../src/http/admission/loadShedding.ts'
import type { Context } from '../../../src/http/context.ts'
import { NEWEST_VERSION } from '../../../src/http/version/versions.ts'
import { type Api, apiOf } from '../../../src/mcp/api.ts'
import { readingTools } from '../../../src/mcp/readingTools.ts'
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
  await api('POST', '/api/devices/dev_1/sendCommand', { body: {} })
  expect(versions).toEqual([NEWEST_VERSION, NEWEST_VERSION])
})

test('a message that waits for its tool holds no slot', async () => {
  const raw = new Request('https://perigee.example/mcp')
  const get = (name: string) => (name === 'principal' ? { accountId: 'acc_1' } : 'request-1')
  const c = { req: { raw, url: raw.url, header: () => undefined }, get, env: {} }
  expect(tryAcquireSlot(raw)).toBe(true)
  const others = Array.from({ length: 200 }, () => new Request(raw.url))
  let during = 0
  const serve = () => {
    during = others.filter(tryAcquireSlot).length
    for (const other of others) releaseSlots(other)
    return Response.json({ success: true })
  }
  await apiOf(c as unknown as Context, serve, 'token')('GET', '/api/me')
  const after = others.filter(tryAcquireSlot).length
  for (const request of [raw, ...others]) releaseSlots(request)
  expect([during, after]).toEqual([128, 127])
})

test('of rows that do not all fit, those that matter most are kept', () => {
  const rows = Array.from({ length: 50 }, (_, at) => ({ at, text: 'x'.repeat(1000) }))
  const rowsIn = (text: string) => JSON.parse(text.slice(text.indexOf('\n'))).rows
  const oldest = boundedText({ summary: '50 events.', rows })
  const newest = boundedText({ summary: '50 events.', rows, keepsEnd: true })
  expect(rowsIn(oldest)).toEqual(rows.slice(0, 25))
  expect(rowsIn(newest)).toEqual(rows.slice(25))
  expect([oldest, newest]).toEqual([
    expect.stringContaining('The last 25 rows are left out'),
    expect.stringContaining('The first 25 rows are left out'),
  ])
  const huge = boundedText({ summary: 'Done.', data: { text: 'x'.repeat(40_000) }, rows })
  expect(huge).toContain('too long to be shown')
})

test('a result that is too long without rows says how to ask for less', () => {
  const text = boundedText({ summary: 'Usage.', data: { days: 'x'.repeat(40_000) } })
  expect(text).toMatch(/^Usage\. .*too long.*smaller limit, a shorter span/)
})

test('events after a sequence are found behind pages without any, or it can go on there', async () => {
  const tool = readingTools.find(({ name }) => name === 'recent_events')
  const callsOf = async (emptyPages: number) => {
    const asked: unknown[] = []
    const api = async (_: string, __: string, { query = {} }: { query?: object } = {}) => {
      const events = asked.push(query) > emptyPages ? [{ sequence: 9, type: 'alert.raised' }] : []
      return { events, lastSequence: 12, nextCursor: events.length > 0 ? null : `c${asked.length}` }
    }
    const found = await tool?.run(api as Api, { types: 'alert.*', after: 3, limit: 20 } as never)
    return { asked: asked.length, found }
  }
  expect(await callsOf(3)).toMatchObject({
    asked: 4,
    found: { rows: [{ sequence: 9 }], data: { lastSequence: 12 } },
  })
  expect(await callsOf(20)).toMatchObject({ asked: 5, found: { rows: [], nextCursor: 'c5' } })
})
