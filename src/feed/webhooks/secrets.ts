import {
  deleteRows,
  findRow,
  insertRow,
  query,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import type { Writer } from '../../domain/admin/audit.ts'
import { postAudit } from '../auditOutbox.ts'
import { secrets } from '../tables.ts'
import { makeSecret } from './signature.ts'

/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = 86_400_000
const MAX_SECRETS = 5

const isOf = (webhookId: string) => query`${secrets.webhookId} = ${webhookId}`
/** The current secret, then those that were replaced last. */
const NEWEST_FIRST = query`${secrets.until} IS NOT NULL, ${secrets.until} DESC`

/** Creates the secret once: a retry after a crash gets the same one. */
const insertSecret = (sql: SqlStorage, id: string, webhookId: string, now: number): string => {
  insertRow(sql, secrets, { id, webhookId, secret: makeSecret(), creation: now }, 'ignore')
  return findRow(sql, secrets, { id })?.secret ?? ''
}

/** The webhook's first secret. */
export const ensureSecret = (sql: SqlStorage, webhookId: string, now: number): string =>
  insertSecret(sql, webhookId, webhookId, now)

interface Rotation {
  webhookId: string
  rotationId: string
  writer: Writer
  now: number
}

/** Replaces the secret. Repeating a rotation with the same id creates no second secret. */
export const rotateSecret = (
  sql: SqlStorage,
  { webhookId, rotationId, writer, now }: Rotation,
): { secret: string; until: number } => {
  const until = now + OVERLAP_MS
  const existing = findRow(sql, secrets, { id: rotationId })
  if (existing) return { secret: existing.secret, until }
  deleteRows(sql, secrets, query`${isOf(webhookId)} AND ${secrets.until} <= ${now}`)
  updateRows(sql, secrets, { until }, query`${isOf(webhookId)} AND ${secrets.until} IS NULL`)
  const secret = insertSecret(sql, rotationId, webhookId, now)
  const kept = query`SELECT ${secrets.id} FROM ${secrets} WHERE ${isOf(webhookId)}
    ORDER BY ${NEWEST_FIRST} LIMIT ${MAX_SECRETS}`
  deleteRows(sql, secrets, query`${isOf(webhookId)} AND ${secrets.id} NOT IN (${kept})`)
  postAudit(sql, { writer, action: 'webhook.secretRotated', webhookId, now })
  return { secret, until }
}

/** The secrets that sign now, the newest first. Never empty, so that nothing is sent unsigned. */
export const readActiveSecrets = (sql: SqlStorage, webhookId: string, now: number): string[] => {
  const { until } = secrets
  const isActive = query`${isOf(webhookId)} AND (${until} IS NULL OR ${until} > ${now})
    ORDER BY ${NEWEST_FIRST}`
  const active = selectRows(sql, secrets, isActive)
  return active.length > 0
    ? active.map(({ secret }) => secret)
    : [ensureSecret(sql, webhookId, now)]
}
