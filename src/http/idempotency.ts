import type { Next } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { liveSecrets } from '../auth/token.ts'
import { openDirectory } from '../db/open.ts'
import { newId, repeatableIds } from '../ids.ts'
import type { Context } from './context.ts'
import { invalid, Problem } from './problem.ts'
import { pack, unpack } from './replayBody.ts'

export interface Replay {
  /** Members shown once: kept out of the stored answer. */
  secrets: readonly string[]
}

export const REPLAY_MS = 86_400_000
/** After this long the first try is taken for dead and a retry carries on with the same ids. */
const LEASE_MS = 30_000
const REPLAYED_HEADERS = ['Content-Type', 'Location', 'ETag', 'Link', 'WWW-Authenticate']

interface Row {
  request: string
  claimed_at: number
  status: number | null
  headers: string | null
  body: string | null
  mine: number
}

interface Claim {
  db: D1Database
  owner: [accountId: string, principal: string, key: string]
  /** Names this try: only the one that holds the key may settle it. */
  token: string
}

/**
 * What is kept of a request: its MAC under each live secret, the newest first. A plain hash of a body with a password in it
 * would let the password be guessed.
 */
const requestMacs = async (c: Context, body: string): Promise<string[]> => {
  const bytes = new TextEncoder().encode(`${c.req.method} ${c.req.path}\n${body}`)
  const secrets = await liveSecrets(c.env)
  return Promise.all(
    secrets.map(async ({ key }) =>
      new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes)).toHex(),
    ),
  )
}

/** Claims the key, or finds who has it. A try that carries on keeps `claimed_at`, which its ids are made from. */
const claimKey = async (
  { db, owner, token }: Claim,
  marks: string[],
  now: number,
): Promise<Row> => {
  const isSame = 'request IN (SELECT value FROM json_each(?8))'
  const [, found] = await db.batch<Row>([
    db
      .prepare(
        `INSERT INTO idempotency (account_id, principal, key, request, claimed_at, leased_until, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET request = ?4, leased_until = ?6, body = ?7, status = NULL, headers = NULL,
           claimed_at = CASE WHEN ${isSame} AND claimed_at >= ?5 - ${REPLAY_MS} THEN claimed_at ELSE ?5 END
         WHERE claimed_at < ?5 - ${REPLAY_MS} OR (status IS NULL AND leased_until <= ?5 AND (${isSame} OR leased_until = 0))`,
      )
      .bind(...owner, marks[0] ?? '', now, now + LEASE_MS, token, JSON.stringify(marks)),
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

const isReplayable = (status: number): boolean => status !== 401 && status !== 429 && status < 500

/** Keeps the answer, or lets the next try carry on where this one failed: with the same ids, so that nothing is made twice. */
const saveReply = async (
  { db, owner, token }: Claim,
  response: Response,
  secrets: readonly string[],
): Promise<void> => {
  const held =
    'WHERE account_id = ?1 AND principal = ?2 AND key = ?3 AND status IS NULL AND body = ?4'
  if (!isReplayable(response.status)) {
    await db
      .prepare(`UPDATE idempotency SET leased_until = 0 ${held}`)
      .bind(...owner, token)
      .run()
    return
  }
  const headers = Object.fromEntries(
    REPLAYED_HEADERS.flatMap((name) =>
      response.headers.has(name) ? [[name, response.headers.get(name)]] : [],
    ),
  )
  const text = await response.text()
  const body =
    secrets.length === 0
      ? text
      : JSON.stringify(JSON.parse(text, (name, value) => (secrets.includes(name) ? null : value)))
  await db
    .prepare(`UPDATE idempotency SET status = ?5, headers = ?6, body = ?7 ${held}`)
    .bind(...owner, token, response.status, JSON.stringify(headers), await pack(body))
    .run()
}

const replayReply = async (c: Context, { body, status, headers }: Row): Promise<Response> =>
  c.body(await unpack(body ?? ''), (status ?? 200) as ContentfulStatusCode, {
    ...JSON.parse(headers ?? '{}'),
    'Idempotent-Replayed': 'true',
  })

const readKey = (c: Context): string | null => {
  const key = c.req.header('Idempotency-Key')
  if (key === undefined) return null
  if (!/^[\x21-\x7e]{1,128}$/.test(key))
    throw invalid({
      pointer: '#/header/Idempotency-Key',
      detail: 'must be 1 to 128 visible ASCII characters',
    })
  return key
}

/** Carries a request out once for its Idempotency-Key; without one, or where none is taken, simply carries it out. */
export const withIdempotency = async (
  c: Context,
  replay: Replay | null,
  body: string,
  next: Next,
): Promise<void> => {
  const key = replay && readKey(c)
  c.set('newId', newId)
  if (!replay || !key) return next()

  const caller = c.get('principal')
  const token = crypto.randomUUID()
  const slot: Claim = caller
    ? { db: c.get('db').$client, owner: [caller.accountId, caller.userId ?? '', key], token }
    : { db: openDirectory(c.env).$client, owner: ['operator', '', key], token }
  const marks = await requestMacs(c, body)
  const row = await claimKey(slot, marks, Date.now())
  if (!row.mine) {
    if (!marks.includes(row.request)) throw new Problem('idempotency-key-reused')
    if (row.status === null)
      throw new Problem('request-in-progress', { headers: { 'Retry-After': '1' } })
    c.res = await replayReply(c, row)
    return
  }
  c.set('newId', repeatableIds(row.claimed_at, slot.owner.join(' ')))
  await next()
  // The answer stands whether or not it can be kept: a repeat meets the same ids.
  await saveReply(slot, c.res.clone(), replay.secrets).catch(() => {})
}
