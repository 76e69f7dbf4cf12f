import { expect, test } from 'vitest'
import published from '../../public/api/openapi.json' with { type: 'json' }
import { call } from './support.ts'

const read = (headers: Record<string, string> = {}) => call('GET', '/api/openapi.json', { headers })

test('the document is served without a token and may be kept for an hour', async () => {
  const { status, headers, body } = await read()
  expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([200, 'application/json', 'public, max-age=3600'])
  expect(body).toEqual(published)
})

test('who has the document already is told so without the bytes', async () => {
  const etag = (await read()).headers.get('ETag') ?? ''
  expect(await read({ 'If-None-Match': etag })).toMatchObject({ status: 304, text: '' })
  expect((await read({ 'If-None-Match': '"of another time"' })).status).toBe(200)
})
