import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { insertSelect, select } from '../db/query.ts'
import { devices, eventHeads, groups, webhooks } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import { isWanted } from '../domain/event/event.ts'
import { MAX_WEBHOOKS, type Webhook, type WebhookRecord } from '../domain/event/webhook.ts'
import { isOwn, selectWebhook } from './store.ts'

/* Each edit is one atomic batch that ends by reading the webhook. */

type WebhookRefusal =
  | { ok: false; refusal: 'webhook-not-found' | 'precondition-failed' | 'webhook-cap-reached' }
  | { ok: false; refusal: 'invalid-request'; errors: { pointer: string; detail: string }[] }
export type WebhookOutcome = { ok: true; webhook: Webhook } | WebhookRefusal

interface WebhookWrite {
  accountId: string
  id: string
  record: WebhookRecord
  now: number
}

const MAX_ERRORS = 20
const LISTED = { devices, groups } as const

/** JSON pointers of ids that are not the account's. Ids that the webhook has already may stay. */
const unknownIds = ({ accountId, id, record }: WebhookWrite): SQL => {
  const unknownIn = (member: keyof typeof LISTED): SQL => {
    const table = LISTED[member]
    return sql`SELECT ${`/${member}/`} || listed.key AS pointer
      FROM json_each(${JSON.stringify(record[member])}) listed
      WHERE NOT EXISTS (SELECT 1 FROM ${table}
          WHERE ${table.id} = listed.value AND ${table.accountId} = ${accountId})
        AND NOT EXISTS (SELECT 1 FROM ${webhooks}, json_each(${webhooks[member]}) existing
          WHERE ${isOwn(accountId, id)} AND existing.value = listed.value)`
  }
  return sql`${unknownIn('devices')} UNION ALL ${unknownIn('groups')}`
}

const selectUnknownIds = (write: WebhookWrite) =>
  select({ pointer: sql<string>`pointer` }, sql`FROM (${unknownIds(write)}) LIMIT ${MAX_ERRORS}`)

const unknownIdsRefusal = (rows: { pointer: string }[]): WebhookRefusal | null => {
  if (rows.length === 0) return null
  const errors = rows.map(({ pointer }) => ({
    pointer,
    detail: `is not a ${pointer.startsWith('/devices') ? 'device' : 'group'} of this account`,
  }))
  return { ok: false, refusal: 'invalid-request', errors }
}

const columnsOf = ({ url, events, devices, groups, description, enabled }: WebhookRecord) => ({
  url,
  events,
  devices,
  groups,
  description,
  enabled,
  wantsLocations: isWanted(events, 'location.reported'),
})

const lastSequence = (accountId: string): SQL =>
  sql`ifnull((SELECT ${eventHeads.sequence} FROM ${eventHeads}
    WHERE ${eventHeads.accountId} = ${accountId}), 0)`

/** A retry after a crash has the same id: it finds the webhook and changes nothing. */
export const createWebhook = async (db: Database, write: WebhookWrite): Promise<WebhookOutcome> => {
  const { accountId, id, record, now } = write
  const { unknown, found } = await runBatch(db, {
    inserted: insertSelect(
      webhooks,
      {
        id,
        accountId,
        ...columnsOf(record),
        since: lastSequence(accountId),
        creation: now,
        lastModified: now,
        version: 1,
      },
      sql`WHERE NOT EXISTS (${unknownIds(write)})
          AND (SELECT count(*) FROM ${webhooks} WHERE ${webhooks.accountId} = ${accountId})
            < ${MAX_WEBHOOKS}
        ON CONFLICT DO NOTHING`,
    ),
    unknown: selectUnknownIds(write),
    found: selectWebhook(db, accountId, id),
  })
  const [webhook] = found.results
  if (webhook) return { ok: true, webhook }
  return unknownIdsRefusal(unknown.results) ?? { ok: false, refusal: 'webhook-cap-reached' }
}

/** A webhook that is enabled again starts after the last event; missed ones are in the log. */
const whenEnabled = (accountId: string) => ({
  since: sql`CASE WHEN ${webhooks.enabled} = 0 THEN ${lastSequence(accountId)}
    ELSE ${webhooks.since} END`,
  disabledReason: null,
})

export const updateWebhook = async (
  db: Database,
  write: WebhookWrite & { version: number },
): Promise<WebhookOutcome> => {
  const { accountId, id, record, now, version } = write
  const { updated, unknown, found } = await runBatch(db, {
    updated: db
      .update(webhooks)
      .set({
        ...columnsOf(record),
        ...(record.enabled && whenEnabled(accountId)),
        lastModified: now,
        version: version + 1,
      })
      .where(
        and(
          isOwn(accountId, id),
          eq(webhooks.version, version),
          sql`NOT EXISTS (${unknownIds(write)})`,
        ),
      ),
    unknown: selectUnknownIds(write),
    found: selectWebhook(db, accountId, id),
  })
  const [webhook] = found.results
  if (!webhook) return { ok: false, refusal: 'webhook-not-found' }
  if (updated.meta.changes === 1) return { ok: true, webhook }
  return unknownIdsRefusal(unknown.results) ?? { ok: false, refusal: 'precondition-failed' }
}

/** `versions` are those that If-Match names; null deletes any version. */
export const deleteWebhook = async (
  db: Database,
  accountId: string,
  id: string,
  versions: number[] | null,
): Promise<{ ok: true } | WebhookRefusal> => {
  const isExpected = versions ? sql`${webhooks.version} IN ${valuesOf(versions)}` : undefined
  const { before, deleted } = await runBatch(db, {
    before: selectWebhook(db, accountId, id),
    deleted: db.delete(webhooks).where(and(isOwn(accountId, id), isExpected)),
  })
  if (deleted.meta.changes === 1) return { ok: true }
  return {
    ok: false,
    refusal: before.results.length === 1 ? 'precondition-failed' : 'webhook-not-found',
  }
}
