import type { Next } from 'hono'
import { macOf } from '../auth/mac.ts'
import { liveSecrets } from '../auth/token.ts'
import { type Database, openDirectory } from '../db/open.ts'
import {
  type Attempt,
  type ClaimedRow,
  claimKey,
  releaseKey,
  storeReply,
} from '../db/queries/idempotency.ts'
import { newId, repeatableIds } from '../ids.ts'
import { pack, unpack } from './body/replayBody.ts'
import type { Context } from './context.ts'
import { invalid, Problem } from './contract/problem.ts'
import { newReply } from './reply/newReply.ts'

export interface Replay {
  /** Members that are shown once: the stored reply has null in their place. */
  secrets: readonly string[]
}

const REPLAYED_HEADERS = ['Content-Type', 'Location', 'ETag', 'Link', 'WWW-Authenticate']

/**
 * MACs of the request under each live secret, newest first. A plain hash would let a password in
 * the body be guessed.
 */
export const requestMacs = async (c: Context, body: string): Promise<string[]> => {
  const text = `${c.req.method} ${c.req.path}\n${body}`
  const secrets = await liveSecrets(c.env)
  return Promise.all(secrets.map(async ({ key }) => (await macOf(key, text)).toHex()))
}

const isReplayable = (status: number): boolean => status !== 401 && status !== 429 && status < 500

/** Stores the reply. After a failure it gives the key up: a retry goes on with the same ids. */
const saveReply = async (
  db: Database,
  attempt: Attempt,
  response: Response,
  secrets: readonly string[],
): Promise<void> => {
  if (!isReplayable(response.status)) return releaseKey(db, attempt)
  const headers = Object.fromEntries(
    REPLAYED_HEADERS.flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  const text = await response.text()
  const body =
    secrets.length === 0
      ? text
      : JSON.stringify(JSON.parse(text, (name, value) => (secrets.includes(name) ? null : value)))
  await storeReply(db, attempt, { status: response.status, headers, body: await pack(body) })
}

const replayReply = async (c: Context, { body, status, headers }: ClaimedRow): Promise<Response> =>
  newReply(c, await unpack(body ?? ''), status ?? 200, {
    ...headers,
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

/** The operator's keys are in the directory, an account's in its cell. */
const startAttempt = (c: Context, key: string): { db: Database; attempt: Attempt } => {
  const { accountId = 'operator', userId = null } = c.get('principal') ?? {}
  const db = c.get('principal') ? c.get('db') : openDirectory(c.env)
  const principal = userId ?? c.get('operator')?.id ?? ''
  return { db, attempt: { accountId, principal, key, token: crypto.randomUUID() } }
}

export const hasIdempotencyKey = (c: Context): boolean =>
  c.req.header('Idempotency-Key') !== undefined

/**
 * Processes a request once per Idempotency-Key; always when it has no key or takes none. Takes the
 * MACs and not the body, which would stay in memory until the reply.
 */
export const withIdempotency = async (
  c: Context,
  replay: Replay | null,
  macs: string[],
  next: Next,
): Promise<void> => {
  const key = replay && readKey(c)
  c.set('newId', newId)
  if (!replay || !key) return next()

  const { db, attempt } = startAttempt(c, key)
  const row = await claimKey(db, attempt, macs, Date.now())
  if (!row) throw new Problem('unavailable')
  if (!row.isHeld) {
    if (!macs.includes(row.request)) throw new Problem('idempotency-key-reused')
    if (row.status === null)
      throw new Problem('request-in-progress', { headers: { 'Retry-After': '1' } })
    c.res = await replayReply(c, row)
    return
  }
  c.set('newId', repeatableIds(row.claimedAt, `${attempt.accountId} ${attempt.principal} ${key}`))
  await next()
  // The reply is sent even when it cannot be stored: a retry makes the same ids.
  await saveReply(db, attempt, c.res.clone(), replay.secrets).catch(() => {})
}
