import { Hono } from 'hono'
import { openDirectory } from '../db/open.ts'
import { cellNumbers, readNumber } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { isNotModified } from '../http/reply/etag.ts'
import { newReply } from '../http/reply/newReply.ts'
import { reply } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { checkDirectory } from './health.ts'
import { collectMetrics, toPrometheusText } from './metrics.ts'
import * as operatorContract from './operatorContract.ts'
import { collectHealth, presentOperatorHealth } from './operatorHealth.ts'
import { presentHealth, presentProblem, presentProblemIndex } from './present.ts'

export const service = new Hono<AppEnv>()
  .get('/healthz', operation(contract.readHealth), async (c) => {
    const now = Date.now()
    const checked = await checkDirectory(openDirectory(c.env), now)
    const [cells, maxBytes] = [cellNumbers(c.env), readNumber(c.env, 'CELL_MAX_BYTES')]
    return reply(c, contract.readHealth, presentHealth({ cells, maxBytes, now, ...checked }))
  })
  .get('/api/openapi.json', operation(contract.readOpenApi), async (c) => {
    // Without the caller's headers: conditions and ranges are not for the assets to handle.
    const { status, body, headers } = await c.env.ASSETS.fetch(
      new URL('/api/openapi.json', c.req.url),
    )
    if (status !== 200) throw new Problem('unavailable')
    const etag = headers.get('ETag') ?? ''
    const cached = { 'Cache-Control': 'public, max-age=3600', ETag: etag }
    if (isNotModified(c, etag)) return newReply(c, null, 304, cached)
    return newReply(c, body as ReadableStream, 200, {
      'Content-Type': 'application/json',
      ...cached,
    })
  })

export const operatorHealth = new Hono<AppEnv>()
  .get('/health', operation(operatorContract.readOperatorHealth), async (c) =>
    reply(
      c,
      operatorContract.readOperatorHealth,
      presentOperatorHealth(await collectHealth(c.env, Date.now())),
    ),
  )
  .get('/metrics', operation(operatorContract.readMetrics), async (c) => {
    const metrics = collectMetrics(await collectHealth(c.env, Date.now()))
    if (c.req.valid('query').format === 'json')
      return reply(c, operatorContract.readMetrics, { success: true, metrics })
    return newReply(c, toPrometheusText(metrics), 200, {
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    })
  })

/** HTML pages that the `type` of a problem links to. */
export const pages = new Hono<AppEnv>()
  .get('/problems', (c) => c.html(presentProblemIndex()))
  .all('/problems/', (c) => c.redirect('/problems', 308))
  .get('/problems/:code', (c) => {
    const page = presentProblem(c.req.param('code'))
    if (!page) throw new Problem('route-not-found')
    return c.html(page)
  })
