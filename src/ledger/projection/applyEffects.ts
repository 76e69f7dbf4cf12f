import { insertAlert, insertMessages, updateMessage } from '../../db/alerts.ts'
import { appendEvent, subscribed } from '../../db/events.ts'
import type { Database } from '../../db/open.ts'
import { NO_DEVICE_KEY } from '../../domain/alert.ts'
import type { Posted } from '../outbox.ts'
import { jumpEvents, removeAccount, writeAccount } from './accounts.ts'
import {
  removeDevice,
  removeStaleMemberships,
  undelete,
  writeContact,
  writeDevice,
  writeUsage,
} from './devices.ts'
import { listAccount, unlistAccount } from './directory.ts'
import { insertNoticeMessages } from './notices.ts'

/*
 * Effects as D1 statements. Each may run twice or late: rows carry the number of the effect that
 * wrote them, a deleted device leaves a tombstone, an erased account an erasure, and event ids are
 * unique.
 */

const statementsFor = (
  db: Database,
  accountId: string,
  effect: Posted,
): D1PreparedStatement | D1PreparedStatement[] => {
  const { $client } = db
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
      return insertAlert($client, { accountId, ...effect })
    case 'messages':
      return effect.key === NO_DEVICE_KEY
        ? insertNoticeMessages(db, accountId, effect)
        : insertMessages($client, { accountId, ...effect })
    case 'message-state':
      return updateMessage($client, { accountId, ...effect })
    case 'memberships':
      return removeStaleMemberships(db, accountId)
    case 'event':
      return appendEvent($client, { accountId, ...effect })
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

/** Carries the effects out in one atomic batch. */
export const applyEffects = async (
  db: Database,
  accountId: string,
  effects: Posted[],
  now: number,
): Promise<AppliedEffects> => {
  const head = db.$client
    .prepare(
      `SELECT sequence, ${subscribed('?1', '?2')} AS listening FROM event_heads WHERE account_id = ?1`,
    )
    .bind(accountId, now)
  const results = await db.$client.batch<{ sequence: number; listening: number }>([
    ...effects.flatMap((effect) => statementsFor(db, accountId, effect)),
    head,
  ])
  const { sequence = 0, listening = 0 } = results.at(-1)?.results[0] ?? {}
  return {
    lastEvent: sequence,
    hasSubscribers: listening === 1 && effects.some(({ kind }) => kind === 'event'),
  }
}
