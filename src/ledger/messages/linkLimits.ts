import { findRow, query } from '../../db/objectTable.ts'
import type { Decision } from '../decision.ts'
import { notices } from '../tables.ts'

/* How many password links are sent: nobody's mailbox is flooded by someone who knows the address. */

/** A link that an account notice carries. */
export interface CountedLink {
  kind: 'invitation' | 'reset'
  userId: string
}

export interface LinkRefusal {
  ok: false
  refusal: 'too-many-requests'
  /** When the next link may be sent. */
  retryAt: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_PER_USER_AND_HOUR = 3
const MAX_PER_ACCOUNT_AND_DAY: Record<CountedLink['kind'], number> = {
  invitation: 500,
  reset: 100,
}

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

/** A refusal when the user or the account has been sent as many links of this kind as allowed. */
export const refuseLink = (tx: Decision, { kind, userId }: CountedLink): LinkRefusal | null => {
  const retryAt =
    spanEnd(tx, { kind, userId }, MAX_PER_USER_AND_HOUR, HOUR_MS) ??
    spanEnd(tx, { kind, userId: null }, MAX_PER_ACCOUNT_AND_DAY[kind], DAY_MS)
  return retryAt === null ? null : { ok: false, refusal: 'too-many-requests', retryAt }
}
