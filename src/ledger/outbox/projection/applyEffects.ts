import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { insertAlert, updateAlert } from '../../../db/queries/alerts.ts'
import { appendEvent, isSubscribed } from '../../../db/queries/events.ts'
import { insertMessages, updateMessage } from '../../../db/queries/messages.ts'
import { deletePendingRaises } from '../../../db/queries/pendingRaises.ts'
import { eventHeads } from '../../../db/schema.ts'
import { compile, placeholders, type Statement } from '../../../db/statement.ts'
import type { Posted } from '../outbox.ts'
import { jumpEvents, removeAccount, writeAccount } from './accounts.ts'
import { removeDevice, undelete } from './deletions.ts'
import { writeContact, writeDevice, writeUsage } from './devices.ts'
import { listAccount, unlistAccount } from './directory.ts'
import { type Hashed, hashLinks } from './links.ts'
import { repairMemberships } from './memberships.ts'

/*
 * Effects as D1 statements. Each may run twice or late: rows carry the number of the effect that
 * wrote them, a deleted device leaves a tombstone, an erased account an erasure, and event ids are
 * unique.
 */

const statementsFor = (
  db: Database,
  accountId: string,
  effect: Hashed,
): Statement | Statement[] => {
  switch (effect.kind) {
    case 'account':
      return writeAccount(db, effect)
    case 'device':
      return writeDevice(db, accountId, effect)
    case 'undelete':
      return undelete(db, accountId, effect)
    case 'device-gone':
      return removeDevice(db, accountId, effect)
    case 'usage':
      return writeUsage(db, accountId, effect)
    case 'contact':
      return writeContact(db, accountId, effect)
    case 'alert':
      return insertAlert(db, { accountId, ...effect })
    case 'raises-decided':
      return deletePendingRaises(db, accountId, effect.ids)
    case 'alert-state':
      return updateAlert(db, { accountId, ...effect })
    case 'messages':
      return insertMessages(db, { accountId, ...effect })
    case 'message-state':
      return updateMessage(db, { accountId, ...effect })
    case 'memberships':
      return repairMemberships(db, accountId)
    case 'event':
      return appendEvent(db, { accountId, ...effect })
    case 'events-jump':
      return jumpEvents(db, accountId, effect)
    case 'account-gone':
      return removeAccount(db, accountId, effect)
    case 'directory':
      return listAccount(db, effect)
    case 'directory-gone':
      return unlistAccount(db, accountId, effect)
  }
}

export interface AppliedEffects {
  /** The account's last event number after these effects. */
  lastEvent: number
  /** An event was added and someone subscribes to them. */
  hasSubscribers: boolean
}

interface Head {
  sequence: number
  subscribed: number
}

const p = placeholders('accountId', 'now')
const selectHead = compile<{ accountId: string; now: number }, Head>(
  sql`SELECT ${eventHeads.sequence}, ${isSubscribed(p.accountId, p.now)} AS subscribed
    FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
)

/** Carries the effects out in one atomic batch. */
export const applyEffects = async (
  db: Database,
  accountId: string,
  effects: Posted[],
  now: number,
): Promise<AppliedEffects> => {
  const hashed = await hashLinks(effects)
  const results = await db.$client.batch<Head>([
    ...hashed.flatMap((effect) => statementsFor(db, accountId, effect)),
    selectHead(db, { accountId, now }),
  ])
  const { sequence = 0, subscribed = 0 } = results.at(-1)?.results[0] ?? {}
  return {
    lastEvent: sequence,
    hasSubscribers: subscribed === 1 && effects.some(({ kind }) => kind === 'event'),
  }
}
