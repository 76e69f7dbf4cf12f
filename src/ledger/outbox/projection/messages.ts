import { sql } from 'drizzle-orm'
import { insertSelect, updateSet } from '../../../db/query.ts'
import { accounts, messages } from '../../../db/schema.ts'
import { compile, literal, type Placeholders } from '../../../db/statement.ts'
import { NO_DEVICE_KEY } from '../../../domain/message/alert.ts'
import { LINK_VALID_MS } from '../../../domain/message/link.ts'
import type { NewMessage, PostedAs, Write } from '../outbox.ts'
import { hasDevice } from './alerts.ts'

/* How messages enter the cell. Each statement may run twice. */

type Of<Kind extends 'messages' | 'message-state'> = PostedAs<Kind> & { accountId: string }

/** A member of a listed message. */
const each = (member: keyof NewMessage) => sql`value ->> ${sql.raw(`'$.${member}'`)}`

/** The messages of a notice about the account itself belong to no device. */
const fillMessages = compile(
  (p: Placeholders<Omit<Of<'messages'>, 'messages'> & { list: string }>) => {
    const isNotice = sql`${p.key} = ${literal(NO_DEVICE_KEY)}`
    return insertSelect(
      messages,
      {
        accountId: p.accountId,
        deviceKey: p.key,
        changed: p.at,
        seq: p.seq,
        attempts: sql`0`,
        id: each('id'),
        // An effect that was posted before messages had kinds has none.
        kind: sql`ifnull(${each('kind')}, iif(${isNotice}, 'notice', 'alert'))`,
        channel: each('channel'),
        recipient: each('to'),
        userId: each('userId'),
        contact: each('contact'),
        textOf: each('textOf'),
        subject: each('subject'),
        text: each('text'),
        status: each('status'),
        reason: each('reason'),
        resetAt: each('resetAt'),
        linkHash: each('linkHash'),
        linkExpires: sql`iif(${each('linkHash')} IS NULL, NULL, ${p.at} + ${literal(LINK_VALID_MS)})`,
      },
      sql`FROM json_each(${p.list})
      WHERE iif(${isNotice}, EXISTS (SELECT 1 FROM ${accounts}
        WHERE ${accounts.id} = ${p.accountId}), ${hasDevice(p.key)})
      ON CONFLICT DO NOTHING`,
    )
  },
)

export const insertMessages: Write<'messages'> = (db, accountId, { messages: list, ...effect }) => [
  fillMessages(db, { ...effect, accountId, list: JSON.stringify(list) }),
]

type State = Omit<Of<'message-state'>, 'link' | 'linkHash' | 'shownLink' | 'providerId'> &
  Record<'linkHash' | 'shownLink' | 'providerId', string | null>

const fillState = compile((p: Placeholders<State>) =>
  updateSet(
    messages,
    {
      status: p.status,
      reason: p.reason,
      provider: p.provider,
      attempts: p.attempts,
      // An attempt that fails changes the reason alone: how long it has waited stays known.
      changed: sql`iif(${messages.status} = ${p.status}, ${messages.changed}, ${p.at})`,
      seq: p.seq,
      resetAt: sql`NULL`,
      linkHash: sql`ifnull(${p.linkHash}, ${messages.linkHash})`,
      linkExpires: sql`iif(${p.linkHash} IS NULL, ${messages.linkExpires},
        ${p.at} + ${literal(LINK_VALID_MS)})`,
      link: p.shownLink,
      providerId: sql`ifnull(${p.providerId}, ${messages.providerId})`,
    },
    sql`${messages.accountId} = ${p.accountId} AND ${messages.id} = ${p.id}
      AND ${messages.seq} < ${p.seq}`,
  ),
)

/** Sets the state of a message, unless a later effect has set it already. */
export const updateMessage: Write<'message-state'> = (db, accountId, effect) => {
  const { linkHash = null, shownLink = null, providerId = null } = effect
  return [fillState(db, { ...effect, accountId, linkHash, shownLink, providerId })]
}
