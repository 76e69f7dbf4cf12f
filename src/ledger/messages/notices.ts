import { findRow, hasRow, insertRow, query } from '../../db/objectTable.ts'
import { messageId, NO_DEVICE_KEY, type Recipient } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import type { NoticeContent } from '../../domain/message/text/noticeText.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt, takeNoticeQuota } from '../devices/dailyLimit.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { notices } from '../tables.ts'
import { type Composition, composeMessages, selectStored } from './compose.ts'
import { countWithinBudget, maxResets } from './messageBudget.ts'
import { queueMessages } from './messageQueue.ts'

/* Notices and escalations: outside the limits of all devices. */

type NoticeParts = Pick<Composition, 'kind' | 'idOf' | 'textOf' | 'isDrill' | 'emergencyOf'>

/**
 * Composes a message for every recipient; notices beyond the account's limit are suppressed.
 * Escalations have the budget alone, and links have limits of their own: neither notices nor people
 * who forget passwords may use up what another needs.
 */
export const composeNotices = (
  tx: Decision,
  recipients: Recipient[],
  parts: NoticeParts,
): NewMessage[] =>
  composeMessages(tx, recipients, {
    ...parts,
    takeQuota: (channel, wanted, allowed) => ({
      granted:
        parts.kind === 'notice'
          ? takeNoticeQuota(tx, {
              channel,
              wanted,
              allowed,
              isEmergency: parts.emergencyOf !== null,
            })
          : allowed,
      reason: 'daily-notice-limit-reached',
    }),
  })

/* How many password links are sent: nobody's mailbox is flooded by someone who knows the address. */

/** A link that an account notice carries. */
interface CountedLink {
  kind: 'invitation' | 'reset'
  userId: string
}

interface LinkRefusal {
  ok: false
  refusal: 'too-many-requests'
  /** When the next link may be sent. */
  retryAt: number
}

const LINK_ACTIONS = { invitation: 'user.invited', reset: 'user.resetRequested' } as const

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_PER_USER_AND_HOUR = 3
const MAX_INVITATIONS_PER_DAY = 500

/** When the oldest of the last `count` links leaves the span; null while there are fewer in it. */
const spanEnd = (
  { sql, now }: Decision,
  { kind, userId }: { kind: string; userId: string | null },
  count: number,
  spanMs: number,
): number | null => {
  const { linkKind, userId: sentTo, accepted } = notices
  const oldest = findRow(
    sql,
    notices,
    query`${linkKind} = ${kind} AND ${sentTo} = coalesce(${userId}, ${sentTo})
      AND ${accepted} > ${now - spanMs} ORDER BY ${accepted} DESC LIMIT 1 OFFSET ${count - 1}`,
  )
  return oldest ? oldest.accepted + spanMs : null
}

/** Who asks for resets for many others must not keep a user from the first one of a day. */
const isFirstReset = (tx: Decision, { kind, userId }: CountedLink): boolean =>
  kind === 'reset' && spanEnd(tx, { kind, userId }, 1, DAY_MS) === null

/** A refusal when the user or the account has been sent as many links or e-mails as allowed. */
const refuseLink = (tx: Decision, link: CountedLink): LinkRefusal | null => {
  const { kind, userId } = link
  const maxPerDay = kind === 'reset' ? maxResets(tx) : MAX_INVITATIONS_PER_DAY
  const email = { kind, channel: 'Email', emergencyOf: null } as const
  const retryAt =
    spanEnd(tx, { kind, userId }, MAX_PER_USER_AND_HOUR, HOUR_MS) ??
    (isFirstReset(tx, link) ? null : spanEnd(tx, { kind, userId: null }, maxPerDay, DAY_MS)) ??
    (countWithinBudget(tx, email, [1]) === 0 ? limitResetAt(tx.account) : null)
  return retryAt === null ? null : { ok: false, refusal: 'too-many-requests', retryAt }
}

export interface AccountNotice {
  /** `ntc_` and 22 characters, the first nine its time. The same id is sent only once. */
  id: string
  content: NoticeContent
  recipients: Recipient[]
  /** Sent before others; the emergencies' part of the budget is for devices of the account. */
  isUrgent: boolean
  /** Whether messages that are not sent are not stored. */
  omitsSuppressed?: boolean
  /** For a password link: counts against the limits of its kind. */
  link?: CountedLink
  /** The id of an earlier one about the same: within an hour of it this one is not sent. */
  unlessAfter?: string
}

export type NoticeOutcome = { ok: true } | LinkRefusal

/**
 * Queues the messages of a notice, as far as the account's limit allows. A repeat queues nothing, so
 * that the caller may retry.
 */
export const sendNotice = (tx: Decision, notice: AccountNotice): NoticeOutcome => {
  const { id, content, recipients, isUrgent, omitsSuppressed = false, link, unlessAfter } = notice
  if (hasRow(tx.sql, notices, { id })) return { ok: true }
  const earlier = unlessAfter && findRow(tx.sql, notices, { id: unlessAfter })
  if (earlier && tx.now - earlier.accepted < HOUR_MS) return { ok: true }
  const refused = link && refuseLink(tx, link)
  if (refused) return refused
  const counted = { linkKind: link?.kind, userId: link?.userId }
  insertRow(tx.sql, notices, { id, accepted: tx.now, ...counted })
  if (link) tx.audit(LINK_ACTIONS[link.kind], { type: 'user', id: link.userId })
  const messages = composeNotices(tx, recipients, {
    kind: link?.kind ?? 'notice',
    idOf: (index) => messageId(id, index),
    textOf: ({ channel, timeZone }) => CHANNEL[channel].composeNotice(content, timeZone),
    emergencyOf: null,
  })
  queueMessages(tx, NO_DEVICE_KEY, selectStored(messages, omitsSuppressed), isUrgent)
  return { ok: true }
}
