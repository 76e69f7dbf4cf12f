import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { accounts, messages } from '../../../db/schema.ts'
import { names, type Statement, statement } from '../../../db/statement.ts'
import { NO_DEVICE_KEY } from '../../../domain/message/alert.ts'
import type { PostedAs } from '../outbox.ts'

const COLUMNS = names(
  messages.accountId,
  messages.deviceKey,
  messages.changed,
  messages.seq,
  messages.attempts,
  messages.id,
  messages.kind,
  messages.channel,
  messages.recipient,
  messages.subject,
  messages.text,
  messages.status,
  messages.reason,
  messages.resetAt,
)

/** Inserts the messages of a notice, which belong to no device. */
export const insertNoticeMessages = (
  db: Database,
  accountId: string,
  { messages: list, at, seq }: PostedAs<'messages'>,
): Statement[] => [
  statement(
    db,
    sql`INSERT INTO ${messages} (${COLUMNS})
      SELECT ${accountId}, ${NO_DEVICE_KEY}, ${at}, ${seq}, 0, value ->> 'id',
        ifnull(value ->> 'kind', 'notice'), value ->> 'channel', value ->> 'to',
        value ->> 'subject', value ->> 'text', value ->> 'status', value ->> 'reason',
        value ->> 'resetAt'
      FROM json_each(${JSON.stringify(list)})
      WHERE EXISTS (SELECT 1 FROM ${accounts} WHERE ${accounts.id} = ${accountId})
      ON CONFLICT DO NOTHING`,
  ),
]
