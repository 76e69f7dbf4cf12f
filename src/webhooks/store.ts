import { and, eq, getTableColumns, gt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { accounts, eventHeads, webhooks } from '../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../db/statement.ts'
import type { DisabledReason, Webhook } from '../domain/event/webhook.ts'

const {
  accountId: _accountId,
  wantsLocations: _wantsLocations,
  ...WEBHOOK_COLUMNS
} = getTableColumns(webhooks)

export const isOwn = (accountId: string, id: string): SQL | undefined =>
  and(eq(webhooks.id, id), eq(webhooks.accountId, accountId))

export const selectWebhook = (db: Database, accountId: string, id: string) =>
  db.select(WEBHOOK_COLUMNS).from(webhooks).where(isOwn(accountId, id))

export const findWebhook = (
  db: Database,
  accountId: string,
  id: string,
): Promise<Webhook | undefined> => selectWebhook(db, accountId, id).get()

/** In the order of their ids, those after `after`. */
export const listWebhooks = (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Webhook[]> =>
  db
    .select(WEBHOOK_COLUMNS)
    .from(webhooks)
    .where(and(eq(webhooks.accountId, accountId), gt(webhooks.id, after)))
    .orderBy(webhooks.id)
    .limit(limit)

export type AccountStatus = 'active' | 'disabled' | 'missing'

export interface AccountSnapshot {
  status: AccountStatus
  /** The sequence of the account's last event. */
  head: number
  webhooks: Webhook[]
}

type OfAccount = Placeholders<{ accountId: string }>

const selectStatus = compile((p: OfAccount) =>
  select(
    { disabled: accounts.disabled },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
  ),
)
const selectHead = compile((p: OfAccount) =>
  select(
    { sequence: eventHeads.sequence },
    sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
  ),
)
const selectWebhooks = compile((p: OfAccount) =>
  select(
    WEBHOOK_COLUMNS,
    sql`FROM ${webhooks} WHERE ${webhooks.accountId} = ${p.accountId} ORDER BY ${webhooks.id}`,
  ),
)

/** What the feed reads with each poll, as of one moment. */
export const readAccountSnapshot = async (
  db: Database,
  accountId: string,
): Promise<AccountSnapshot> => {
  const { found, heads, rows } = await runBatch(db, {
    found: selectStatus(db, { accountId }),
    heads: selectHead(db, { accountId }),
    rows: selectWebhooks(db, { accountId }),
  })
  const [account] = found.results
  return {
    status: !account ? 'missing' : account.disabled ? 'disabled' : 'active',
    head: heads.results[0]?.sequence ?? 0,
    webhooks: rows.results,
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
