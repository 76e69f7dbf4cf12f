import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import {
  type Creation,
  type Deletion,
  deleteOwned,
  type Edit,
  editOutcome,
  refuse,
} from '../db/queries/owned.ts'
import { checkReferences, refuseUnknown } from '../db/queries/references.ts'
import { insertSelect } from '../db/query.ts'
import { devices, eventHeads, groups, webhooks } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { isWanted } from '../domain/event/event.ts'
import { MAX_WEBHOOKS, type Webhook, type WebhookRecord } from '../domain/event/webhook.ts'
import { ownWebhooks } from './store.ts'

/** Ids that the webhook has already may stay. */
const checkRecord = (accountId: string, record: WebhookRecord, before?: WebhookRecord) =>
  checkReferences(accountId, [
    {
      table: devices,
      what: 'device',
      pointer: '/devices',
      ids: record.devices,
      before: before?.devices,
    },
    {
      table: groups,
      what: 'group',
      pointer: '/groups',
      ids: record.groups,
      before: before?.groups,
    },
  ])

const columnsOf = (record: WebhookRecord) => ({
  ...record,
  wantsLocations: isWanted(record.events, 'location.reported'),
})

const lastSequence = (accountId: string): SQL =>
  sql`ifnull((SELECT ${eventHeads.sequence} FROM ${eventHeads}
    WHERE ${eventHeads.accountId} = ${accountId}), 0)`

/** A retry after a crash has the same id: it finds the webhook and changes nothing. */
export const createWebhook = async (
  db: Database,
  { accountId, id, record, now }: Creation<WebhookRecord>,
) => {
  const { areKnown, selectErrors } = checkRecord(accountId, record)
  const { errors, found } = await runBatch(db, {
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
      sql`WHERE ${areKnown}
          AND (SELECT count(*) FROM ${webhooks} WHERE ${webhooks.accountId} = ${accountId})
            < ${MAX_WEBHOOKS}
        ON CONFLICT DO NOTHING`,
    ),
    errors: selectErrors,
    found: ownWebhooks.selectOne(accountId, id),
  })
  const [row] = found.results
  return row ? { ok: true as const, row } : refuseUnknown(errors, refuse('webhook-cap-reached'))
}

/** A webhook that is enabled again starts after the last event; missed ones are in the log. */
const whenEnabled = (accountId: string) => ({
  since: sql`CASE WHEN ${webhooks.enabled} = 0 THEN ${lastSequence(accountId)}
    ELSE ${webhooks.since} END`,
  disabledReason: null,
})

export const updateWebhook = async (
  db: Database,
  { accountId, before, record, now }: Edit<Webhook, WebhookRecord>,
) => {
  const { areKnown, selectErrors } = checkRecord(accountId, record, before)
  const { updated, errors, found } = await runBatch(db, {
    updated: db
      .update(webhooks)
      .set({
        ...columnsOf(record),
        ...(record.enabled && whenEnabled(accountId)),
        lastModified: now,
        version: before.version + 1,
      })
      .where(
        sql`${ownWebhooks.isOwn(accountId, before.id)} AND ${webhooks.version} = ${before.version}
          AND ${areKnown}`,
      ),
    errors: selectErrors,
    found: ownWebhooks.selectOne(accountId, before.id),
  })
  const rows = { before, after: found.results[0] }
  return editOutcome('webhook', updated.meta.changes === 1, rows, () =>
    refuseUnknown(errors, refuse('precondition-failed')),
  )
}

export const deleteWebhook = (db: Database, deletion: Deletion) =>
  deleteOwned(db, ownWebhooks, deletion)
