import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { openDirectory } from '../db/open.ts'
import type { AppEnv } from '../http/context.ts'
import { isNotModified } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { Problem } from '../http/problem.ts'
import * as contract from './contract.ts'
import { problemIndex, problemPage } from './problems.ts'

export const service = new Hono<AppEnv>()
  .get('/healthz', operation(contract.readHealth), async (c) => {
    await openDirectory(c.env).run(sql`SELECT 1`)
    return c.json({ success: true as const, status: 'ok' as const })
  })
  .get('/api/openapi.json', operation(contract.readOpenApi), async (c) => {
    // Without the caller's headers: a range or a list of tags is not the asset's to answer.
    const { status, body, headers } = await c.env.ASSETS.fetch(
      new URL('/api/openapi.json', c.req.url),
    )
    const etag = headers.get('ETag') ?? ''
    const kept = { 'Cache-Control': 'public, max-age=3600', ETag: etag }
    if (status !== 200) throw new Problem('unavailable')
    if (isNotModified(c, etag)) return c.body(null, 304, kept)
    return c.body(body as ReadableStream, 200, { 'Content-Type': 'application/json', ...kept })
  })

/** Pages for people: where the `type` of a problem leads to. */
export const pages = new Hono<AppEnv>()
  .get('/problems', (c) => c.html(problemIndex()))
  .get('/problems/:code', (c) => {
    const page = problemPage(c.req.param('code'))
    if (!page) throw new Problem('not-found')
    return c.html(page)
  })
