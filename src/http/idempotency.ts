import type { Next } from 'hono'
import { openDirectory } from '../db/open.ts'
import type { Context } from './context.ts'
import { newId, repeatableIds } from './ids.ts'
import { invalid, Problem } from './problem.ts'
import { liveSecrets } from './token.ts'

export interface Replay {
  /** Members shown once: kept out of the stored answer. */
  secrets: readonly string[]
}

export const KEPT_FOR = 86_400_000
/** After this long the first try is taken for dead and a retry carries on with the same ids. */
const LEASE = 30_000
const KEPT_HEADERS = ['Content-Type', 'Location', 'ETag', 'Link', 'WWW-Authenticate']

interface Row {
  request: string
  claimed_at: number
  status: number | null
  headers: string | null
  body: string | null
  mine: number
}

interface Slot {
  db: D1Database
  owner: [accountId: string, principal: string, key: string]
}

/**
 * What is kept of a request: signed by each live secret, the newest first, since a plain hash of a body with a password in it
 * could be guessed from.
 */
const marks = async (c: Context, body: string): Promise<string[]> => {
  const bytes = new TextEncoder().encode(`${c.req.method} ${c.req.path}\n${body}`)
  const secrets = await liveSecrets(c.env)
  return Promise.all(secrets.map(async ({ key }) => new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes)).toHex()))
}

/** Claims the key, or finds who has it. `mine` is set by the very statement that claimed. */
const claim = async ({ db, owner }: Slot, requests: string[], now: number): Promise<Row> => {
  const token = crypto.randomUUID()
  const [, found] = await db.batch<Row>([
    db
      .prepare(
        `INSERT INTO idempotency (account_id, principal, key, request, claimed_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET request = ?4, body = ?6, status = NULL, headers = NULL,
           claimed_at = CASE WHEN claimed_at < ?5 - ${KEPT_FOR} THEN ?5 ELSE claimed_at END
         WHERE claimed_at < ?5 - ${KEPT_FOR} OR (status IS NULL AND request IN (SELECT value FROM json_each(?7)) AND claimed_at < ?5 - ${LEASE})`,
      )
      .bind(...owner, requests[0] ?? '', now, token, JSON.stringify(requests)),
    db
      .prepare(
        `SELECT request, claimed_at, status, headers, body, status IS NULL AND body = ?4 AS mine
         FROM idempotency WHERE account_id = ?1 AND principal = ?2 AND key = ?3`,
      )
      .bind(...owner, token),
  ])
  const row = found?.results[0]
  if (!row) throw new Problem('unavailable')
  return row
}

const settle = async ({ db, owner }: Slot, response: Response, secrets: readonly string[]): Promise<void> => {
  if (response.status === 401 || response.status === 429 || response.status >= 500) {
    await db
      .prepare('DELETE FROM idempotency WHERE account_id = ?1 AND principal = ?2 AND key = ?3')
      .bind(...owner)
      .run()
    return
  }
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name)]] : [])),
  )
  const text = await response.text()
  const body = secrets.length === 0 ? text : JSON.stringify(JSON.parse(text, (name, value) => (secrets.includes(name) ? null : value)))
  await db
    .prepare('UPDATE idempotency SET status = ?4, headers = ?5, body = ?6 WHERE account_id = ?1 AND principal = ?2 AND key = ?3')
    .bind(...owner, response.status, JSON.stringify(headers), body)
    .run()
}

const replayed = (c: Context, row: Row): Response =>
  new Response(row.body, {
    status: row.status ?? 200,
    headers: { ...JSON.parse(row.headers ?? '{}'), 'Idempotent-Replayed': 'true', 'X-Request-Id': c.get('requestId') },
  })

const readKey = (c: Context): string | null => {
  const key = c.req.header('Idempotency-Key')
  if (key === undefined) return null
  if (!/^[\x21-\x7e]{1,128}$/.test(key))
    throw invalid({ pointer: '#/header/Idempotency-Key', detail: 'must be 1 to 128 visible ASCII characters' })
  return key
}

/** Carries a request out once for its Idempotency-Key; without one, or where none is taken, simply carries it out. */
export const withIdempotency = async (c: Context, replay: Replay | null, body: string, next: Next): Promise<void> => {
  const key = replay && readKey(c)
  c.set('newId', newId)
  if (!replay || !key) return next()

  const caller = c.get('principal')
  const slot: Slot = caller
    ? { db: c.get('db').$client, owner: [caller.accountId, caller.userId ?? '', key] }
    : { db: openDirectory(c.env).$client, owner: ['operator', '', key] }
  const now = Date.now()
  const requests = await marks(c, body)
  const row = await claim(slot, requests, now)
  if (!row.mine) {
    if (!requests.includes(row.request)) throw new Problem('idempotency-key-reused')
    if (row.status === null) throw new Problem('request-in-progress', { headers: { 'Retry-After': '1' } })
    c.res = replayed(c, row)
    return
  }
  c.set('newId', repeatableIds(row.claimed_at, slot.owner.join(' ')))
  await next()
  // The answer stands whether or not it can be kept: a repeat meets the same ids.
  await settle(slot, c.res.clone(), replay.secrets).catch(() => {})
}
