import { deleteRows, findRow, insertRow } from '../../db/objectTable.ts'
import type { Writer } from '../../domain/admin/audit.ts'
import type { Webhook } from '../../domain/event/webhook.ts'
import { webhookOfLane } from '../../domain/output/output.ts'
import { postAudit } from '../auditOutbox.ts'
import { outputTokens } from '../tables.ts'

/* What receivers of other formats know us by. It is stored only here and never shown. */

type Receiver = Pick<Webhook, 'format' | 'url'>

const nameOf = ({ format, url }: Receiver): string => `${format} ${new URL(url).host}`

/** Null if the token was set for another format or host: it must not be sent there. */
export const readToken = (sql: SqlStorage, { id, format, url }: Webhook): string | null => {
  const stored = findRow(sql, outputTokens, { webhookId: webhookOfLane(id) })
  return stored?.receiver === nameOf({ format, url }) ? stored.token : null
}

export interface TokenChange {
  /** Null deletes it; undefined deletes that of another receiver. */
  token: string | null | undefined
  receiver: Receiver
  writer: Writer
}

export const setToken = (
  sql: SqlStorage,
  webhookId: string,
  { token: given, writer, receiver: of }: TokenChange,
  now: number,
): void => {
  const receiver = nameOf(of)
  const before = findRow(sql, outputTokens, { webhookId })
  const isOfReceiver = before?.receiver === receiver
  const token = given ?? null
  if (given === undefined ? isOfReceiver : isOfReceiver && before.token === token) return
  if (!before && token === null) return
  if (token === null) deleteRows(sql, outputTokens, { webhookId })
  else insertRow(sql, outputTokens, { webhookId, token, receiver }, 'replace')
  const changes = { token: token === null ? null : '' }
  postAudit(sql, { writer, action: 'webhook.tokenChanged', webhookId, changes, now })
}
