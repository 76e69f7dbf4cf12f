import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import {
  type Creation,
  createOwned,
  type Deletion,
  deleteOwned,
  type Edit,
  updateOwned,
} from '../db/queries/owned.ts'
import type { Reference } from '../db/queries/references.ts'
import { devices, eventHeads, groups, webhooks } from '../db/schema.ts'
import { isWanted } from '../domain/event/event.ts'
import { MAX_WEBHOOKS, type Webhook, type WebhookRecord } from '../domain/event/webhook.ts'
import { ownWebhooks } from './store.ts'

/** Ids that the webhook has already may stay. */
const referencesOf = (record: WebhookRecord, before?: WebhookRecord): Reference[] => {
  const member = (name: 'devices' | 'groups') => ({
    pointer: `/${name}`,
    ids: record[name],
    before: before?.[name],
  })
  return [
    { table: devices, what: 'device', ...member('devices') },
    { table: groups, what: 'group', ...member('groups') },
  ]
}

const columnsOf = (record: WebhookRecord) => ({
  ...record,
  wantsLocations: isWanted(record.events, 'location.reported'),
})

const lastSequence = (accountId: string): SQL =>
  sql`ifnull((SELECT ${eventHeads.sequence} FROM ${eventHeads}
    WHERE ${eventHeads.accountId} = ${accountId}), 0)`

export const createWebhook = (db: Database, creation: Creation<WebhookRecord>) => {
  const { accountId, record, now } = creation
  const times = { since: lastSequence(accountId), creation: now, lastModified: now }
  return createOwned(db, ownWebhooks, creation, {
    set: { ...columnsOf(record), ...times },
    references: referencesOf(record),
    condition: sql`(SELECT count(*) FROM ${webhooks} WHERE ${webhooks.accountId} = ${accountId})
      < ${MAX_WEBHOOKS}`,
    otherwise: 'webhook-cap-reached',
  })
}

/** A webhook that is enabled again starts after the last event; missed ones are in the log. */
const whenEnabled = (accountId: string) => ({
  since: sql`CASE WHEN ${webhooks.enabled} = 0 THEN ${lastSequence(accountId)}
    ELSE ${webhooks.since} END`,
  disabledReason: null,
})

export const updateWebhook = (db: Database, edit: Edit<Webhook, WebhookRecord>) => {
  const { accountId, before, record, now } = edit
  const enabled = record.enabled && whenEnabled(accountId)
  return updateOwned(db, ownWebhooks, edit, {
    set: { ...columnsOf(record), ...enabled, lastModified: now },
    references: referencesOf(record, before),
    otherwise: 'precondition-failed',
  })
}

export const deleteWebhook = (db: Database, deletion: Deletion) =>
  deleteOwned(db, ownWebhooks, deletion)
