import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { ownedRows } from '../db/queries/owned.ts'
import { select } from '../db/query.ts'
import { accounts, eventHeads, webhooks } from '../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../db/statement.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import type { DisabledReason, Webhook } from '../domain/event/webhook.ts'
import { isOutputFormat } from '../domain/output/output.ts'

const {
  accountId: _accountId,
  wantsLocations: _wantsLocations,
  ...WEBHOOK_COLUMNS
} = getTableColumns(webhooks)

const selectWebhooks = (where: SQL) =>
  select(WEBHOOK_COLUMNS, sql`FROM ${webhooks} ${where}`).map(
    ({ format, settings, ...row }): Webhook => ({
      ...row,
      format: isOutputFormat(format) ? format : 'json',
      settings: settings ?? {},
    }),
  )

export const ownWebhooks = ownedRows('webhook', webhooks, selectWebhooks)
export const findWebhook = ownWebhooks.find

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
    { isActive: sql<number>`${accounts.status} <> 'disabled' AND ${accounts.deletedAt} IS NULL` },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
  ),
)
const selectHead = compile((p: OfAccount) =>
  select(
    { sequence: eventHeads.sequence },
    sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
  ),
)
const selectAll = compile((p: OfAccount) =>
  selectWebhooks(sql`WHERE ${webhooks.accountId} = ${p.accountId} ORDER BY ${webhooks.id}`),
)

/** What the feed reads with each poll, as of one moment. */
export const readAccountSnapshot = async (
  db: Database,
  accountId: string,
): Promise<AccountSnapshot> => {
  const { found, heads, rows } = await runBatch(db, {
    found: selectStatus(db, { accountId }),
    heads: selectHead(db, { accountId }),
    rows: selectAll(db, { accountId }),
  })
  const [account] = found.results
  return {
    status: !account ? 'missing' : account.isActive ? 'active' : 'disabled',
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
  const isUnchanged = and(eq(webhooks.url, url), eq(webhooks.enabled, true))
  await runBatch(db, {
    disabled: db
      .update(webhooks)
      .set({
        enabled: false,
        disabledReason: reason,
        lastModified: now,
        version: sql`${webhooks.version} + 1`,
      })
      .where(and(ownWebhooks.isOwn(accountId, id), isUnchanged)),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'webhook.disabled',
      resource: { type: 'webhook', id },
      changes: changesBetween(null, { disabledReason: reason }),
    }),
  })
}
