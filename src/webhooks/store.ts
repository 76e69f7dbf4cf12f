import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, eventHeads, webhooks } from '../db/schema.ts'
import {
  compile,
  readAll,
  readFirst,
  runBatch,
  type Statement,
  statement,
} from '../db/statement.ts'
import type { DisabledReason, Webhook } from '../domain/event/webhook.ts'

export interface WebhookRow {
  id: string
  url: string
  events: string
  devices: string
  groups: string
  description: string
  enabled: number
  disabled_reason: DisabledReason | null
  since: number
  creation: number
  last_modified: number
  version: number
}

export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  events: JSON.parse(row.events) as string[],
  devices: JSON.parse(row.devices) as string[],
  groups: JSON.parse(row.groups) as string[],
  description: row.description,
  enabled: row.enabled === 1,
  disabledReason: row.disabled_reason,
  since: row.since,
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

export const isOwn = (accountId: string, id: string): SQL | undefined =>
  and(eq(webhooks.id, id), eq(webhooks.accountId, accountId))

export const selectWebhook = (db: Database, accountId: string, id: string): Statement<WebhookRow> =>
  statement(db, sql`SELECT * FROM ${webhooks} WHERE ${isOwn(accountId, id)}`)

export const findWebhook = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Webhook | null> => {
  const row = await readFirst(selectWebhook(db, accountId, id))
  return row && toWebhook(row)
}

/** In the order of their ids, those after `after`. */
export const listWebhooks = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Webhook[]> => {
  const rows = await readAll(
    statement<WebhookRow>(
      db,
      sql`SELECT * FROM ${webhooks}
        WHERE ${webhooks.accountId} = ${accountId} AND ${webhooks.id} > ${after}
        ORDER BY ${webhooks.id} LIMIT ${limit}`,
    ),
  )
  return rows.map(toWebhook)
}

export type AccountStatus = 'active' | 'disabled' | 'missing'

export interface AccountSnapshot {
  status: AccountStatus
  /** The sequence of the account's last event. */
  head: number
  webhooks: Webhook[]
}

type OfAccount = { accountId: string }
const accountId = sql.placeholder('accountId')

const selectStatus = compile<OfAccount, { disabled: number }>(
  sql`SELECT ${accounts.disabled} FROM ${accounts} WHERE ${accounts.id} = ${accountId}`,
)
const selectHead = compile<OfAccount, { sequence: number }>(
  sql`SELECT ${eventHeads.sequence} FROM ${eventHeads}
    WHERE ${eventHeads.accountId} = ${accountId}`,
)
const selectWebhooks = compile<OfAccount, WebhookRow>(
  sql`SELECT * FROM ${webhooks} WHERE ${webhooks.accountId} = ${accountId} ORDER BY ${webhooks.id}`,
)

/** What the feed reads with each poll, as of one moment. */
export const readAccountSnapshot = async (
  db: Database,
  accountId: string,
): Promise<AccountSnapshot> => {
  const [found, heads, rows] = await runBatch(db, [
    selectStatus(db, { accountId }),
    selectHead(db, { accountId }),
    selectWebhooks(db, { accountId }),
  ])
  const [account] = found.results
  return {
    status: !account ? 'missing' : account.disabled === 1 ? 'disabled' : 'active',
    head: heads.results[0]?.sequence ?? 0,
    webhooks: rows.results.map(toWebhook),
  }
}

interface Disabling {
  reason: DisabledReason
  now: number
}

/** Changes nothing if the webhook was disabled or got another URL meanwhile. */
export const disableWebhook = async (
  db: Database,
  accountId: string,
  { id, url }: Webhook,
  { reason, now }: Disabling,
): Promise<void> => {
  await db
    .update(webhooks)
    .set({
      enabled: false,
      disabledReason: reason,
      lastModified: now,
      version: sql`${webhooks.version} + 1`,
    })
    .where(and(isOwn(accountId, id), eq(webhooks.url, url), eq(webhooks.enabled, true)))
}
