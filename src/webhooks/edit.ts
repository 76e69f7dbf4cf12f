import type { Database } from '../db/open.ts'
import { isWanted } from '../domain/event.ts'
import { MAX_WEBHOOKS, type Webhook, type WebhookRecord } from '../domain/webhook.ts'
import { FIND, toWebhook, type WebhookRow } from './store.ts'

/* Each edit is one atomic batch that ends by reading what it left behind. */

export type WebhookOutcome =
  | { ok: true; webhook: Webhook }
  | { ok: false; refusal: 'not-found' | 'precondition-failed' | 'webhook-cap-reached' }
  | { ok: false; refusal: 'invalid-request'; errors: { pointer: string; detail: string }[] }

/** SQL: the places in ?3 (devices) and ?4 (groups) of ids that are neither the account's (?2) nor in the webhook (?1) already. */
const unknownIdsIn = (name: 'devices' | 'groups', list: '?3' | '?4') =>
  `SELECT '/${name}/' || e.key AS pointer FROM json_each(${list}) e
   WHERE NOT EXISTS (SELECT 1 FROM ${name} n WHERE n.id = e.value AND n.account_id = ?2)
     AND NOT EXISTS (SELECT 1 FROM webhooks w, json_each(w.${name}) o WHERE w.id = ?1 AND w.account_id = ?2 AND o.value = e.value)`
const UNKNOWN_IDS = `${unknownIdsIn('devices', '?3')} UNION ALL ${unknownIdsIn('groups', '?4')}`
const MAX_ERRORS = 20

const unknownIds = (
  db: D1Database,
  accountId: string,
  id: string,
  { devices, groups }: WebhookRecord,
) =>
  db
    .prepare(`SELECT pointer FROM (${UNKNOWN_IDS}) LIMIT ${MAX_ERRORS}`)
    .bind(id, accountId, JSON.stringify(devices), JSON.stringify(groups))

const refusedIds = (found: D1Result | undefined): WebhookOutcome | null => {
  const pointers = ((found?.results ?? []) as { pointer: string }[]).map(({ pointer }) => pointer)
  if (pointers.length === 0) return null
  const errors = pointers.map((pointer) => ({
    pointer,
    detail: `is not a ${pointer.startsWith('/devices') ? 'device' : 'group'} of this account`,
  }))
  return { ok: false, refusal: 'invalid-request', errors }
}

const columns = ({ url, events, devices, groups, description, enabled }: WebhookRecord) => [
  JSON.stringify(devices),
  JSON.stringify(groups),
  url,
  JSON.stringify(events),
  description,
  enabled ? 1 : 0,
  isWanted(events, 'location.reported') ? 1 : 0,
]

const HEAD = 'ifnull((SELECT sequence FROM event_heads WHERE account_id = ?2), 0)'

/** A retry after a crash has the same id: it finds the webhook there and changes nothing. */
export const insertWebhook = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
  record: WebhookRecord,
  now: number,
): Promise<WebhookOutcome> => {
  const results = await db.batch([
    db
      .prepare(
        `INSERT INTO webhooks (id, account_id, devices, groups, url, events, description, enabled, wants_locations, since, creation, last_modified, version)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ${HEAD}, ?10, ?10, 1 WHERE NOT EXISTS (${UNKNOWN_IDS})
           AND (SELECT count(*) FROM webhooks WHERE account_id = ?2) < ${MAX_WEBHOOKS} ON CONFLICT DO NOTHING`,
      )
      .bind(id, accountId, ...columns(record), now),
    unknownIds(db, accountId, id, record),
    db.prepare(FIND).bind(id, accountId),
  ])
  const row = results.at(-1)?.results[0] as WebhookRow | undefined
  if (row) return { ok: true, webhook: toWebhook(row) }
  return refusedIds(results[1]) ?? { ok: false, refusal: 'webhook-cap-reached' }
}

/** Enabled again, it is told of what happens from now on: what it missed is in the log. */
export const updateWebhook = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
  record: WebhookRecord,
  version: number,
  now: number,
): Promise<WebhookOutcome> => {
  const results = await db.batch([
    db
      .prepare(
        `UPDATE webhooks SET devices = ?3, groups = ?4, url = ?5, events = ?6, description = ?7, enabled = ?8, wants_locations = ?9,
           since = CASE WHEN enabled = 0 AND ?8 = 1 THEN ${HEAD} ELSE since END,
           disabled_reason = CASE WHEN ?8 = 1 THEN NULL ELSE disabled_reason END, last_modified = ?10, version = version + 1
         WHERE id = ?1 AND account_id = ?2 AND version = ?11 AND NOT EXISTS (${UNKNOWN_IDS}) RETURNING id`,
      )
      .bind(id, accountId, ...columns(record), now, version),
    unknownIds(db, accountId, id, record),
    db.prepare(FIND).bind(id, accountId),
  ])
  const row = results.at(-1)?.results[0] as WebhookRow | undefined
  if (!row) return { ok: false, refusal: 'not-found' }
  if (results[0]?.results.length === 1) return { ok: true, webhook: toWebhook(row) }
  return refusedIds(results[1]) ?? { ok: false, refusal: 'precondition-failed' }
}

/** `versions`: what If-Match names, compared at the moment of the write. */
export const deleteWebhook = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
  versions: number[] | null,
): Promise<{ ok: true } | { ok: false; refusal: 'not-found' | 'precondition-failed' }> => {
  const [standing, gone] = await db.batch([
    db.prepare(FIND).bind(id, accountId),
    db
      .prepare(
        'DELETE FROM webhooks WHERE id = ?1 AND account_id = ?2 AND (?3 IS NULL OR version IN (SELECT value FROM json_each(?3))) RETURNING id',
      )
      .bind(id, accountId, versions && JSON.stringify(versions)),
  ])
  if (gone?.results.length === 1) return { ok: true }
  return {
    ok: false,
    refusal: standing?.results.length === 1 ? 'precondition-failed' : 'not-found',
  }
}
