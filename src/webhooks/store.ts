import type { Database } from '../db/open.ts'
import type { DisabledReason, Webhook } from '../domain/webhook.ts'

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

/** ?1 webhook, ?2 account. */
export const FIND = 'SELECT * FROM webhooks WHERE id = ?1 AND account_id = ?2'

export const findWebhook = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
): Promise<Webhook | null> => {
  const row = await db.prepare(FIND).bind(id, accountId).first<WebhookRow>()
  return row && toWebhook(row)
}

export const listWebhooks = async (
  { $client: db }: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Webhook[]> => {
  const { results } = await db
    .prepare('SELECT * FROM webhooks WHERE account_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3')
    .bind(accountId, after, limit)
    .all<WebhookRow>()
  return results.map(toWebhook)
}

export interface Listeners {
  /** Whether there is such an account, and it is not disabled. */
  account: 'standing' | 'disabled' | 'gone'
  /** The account's last event. */
  head: number
  webhooks: Webhook[]
}

/** What the account's feed is to serve, as of one moment. */
export const readListeners = async (
  { $client: db }: Database,
  accountId: string,
): Promise<Listeners> => {
  const [accounts, heads, rows] = await db.batch([
    db.prepare('SELECT disabled FROM accounts WHERE id = ?').bind(accountId),
    db.prepare('SELECT sequence FROM event_heads WHERE account_id = ?').bind(accountId),
    db.prepare('SELECT * FROM webhooks WHERE account_id = ? ORDER BY id').bind(accountId),
  ])
  const account = accounts?.results[0] as { disabled: number } | undefined
  return {
    account: !account ? 'gone' : account.disabled === 1 ? 'disabled' : 'standing',
    head: (heads?.results[0] as { sequence: number } | undefined)?.sequence ?? 0,
    webhooks: ((rows?.results ?? []) as unknown as WebhookRow[]).map(toWebhook),
  }
}

/** The service's own edit, where a receiver is given up. Nothing happens where it was disabled or led elsewhere meanwhile. */
export const disableWebhook = async (
  { $client: db }: Database,
  accountId: string,
  { id, url }: Webhook,
  reason: DisabledReason,
  now: number,
): Promise<boolean> => {
  const { meta } = await db
    .prepare(
      `UPDATE webhooks SET enabled = 0, disabled_reason = ?4, last_modified = ?5, version = version + 1
       WHERE id = ?1 AND account_id = ?2 AND url = ?3 AND enabled = 1`,
    )
    .bind(id, accountId, url, reason, now)
    .run()
  return meta.changes === 1
}
