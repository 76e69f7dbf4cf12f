import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { insertEntry } from '../../../db/queries/audit.ts'
import { appendEvent, isSubscribed } from '../../../db/queries/events.ts'
import { deletePendingRaises } from '../../../db/queries/pendingRaises.ts'
import { select } from '../../../db/query.ts'
import { eventHeads } from '../../../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../../../db/statement.ts'
import { hashLink } from '../../../ids.ts'
import type { Effect, Posted, Write } from '../outbox.ts'
import { jumpEvents, removeAccount, writeAccount } from './accounts.ts'
import { insertAlert, updateAlert } from './alerts.ts'
import { removeDevice, restoreDevice, undelete } from './deletions.ts'
import { writeContact, writeDevice, writeUsage } from './devices.ts'
import { listAccount, relistAccount, unlistAccount } from './directory.ts'
import { repairMemberships } from './memberships.ts'
import { insertMessages, updateMessage } from './messages.ts'

/*
 * Effects as D1 statements. Each may run twice or late: rows carry the number of the effect that
 * wrote them, a deleted device leaves a tombstone, an erased account an erasure, and event ids are
 * unique.
 */

const WRITES: { [Kind in Effect['kind']]: Write<Kind> } = {
  account: writeAccount,
  device: writeDevice,
  undelete,
  'device-gone': removeDevice,
  'device-back': restoreDevice,
  usage: writeUsage,
  contact: writeContact,
  alert: insertAlert,
  'raises-decided': (db, accountId, { ids }) => [deletePendingRaises(db, accountId, ids)],
  'alert-state': updateAlert,
  messages: insertMessages,
  'message-state': updateMessage,
  memberships: repairMemberships,
  event: (db, accountId, effect) => appendEvent(db, { accountId, ...effect }),
  audit: (_, accountId, { entry }) => [insertEntry(accountId, entry)],
  'events-jump': jumpEvents,
  'account-gone': removeAccount,
  directory: listAccount,
  'directory-gone': unlistAccount,
  'directory-moved': relistAccount,
}

/** The cell keeps the hash of a link. Hashing is asynchronous, so decisions cannot do it. */
const withHash = async <T extends { link?: string | undefined }>({ link, ...rest }: T) =>
  link === undefined ? rest : { ...rest, linkHash: await hashLink(link) }

const hashLinks = async (effect: Posted): Promise<Posted> => {
  if (effect.kind === 'messages')
    return { ...effect, messages: await Promise.all(effect.messages.map(withHash)) }
  return effect.kind === 'message-state' ? withHash(effect) : effect
}

export interface AppliedEffects {
  /** The account's last event number after these effects. */
  lastEvent: number
  /** An event was added and someone subscribes to them. */
  hasSubscribers: boolean
}

const selectHead = compile((p: Placeholders<{ accountId: string; now: number }>) =>
  select(
    {
      sequence: eventHeads.sequence,
      isSubscribed: sql<number>`${isSubscribed(p.accountId, p.now)}`,
    },
    sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
  ),
)

/** Carries the effects out in one atomic batch. */
export const applyEffects = async (
  db: Database,
  accountId: string,
  effects: Posted[],
  now: number,
): Promise<AppliedEffects> => {
  const hashed = await Promise.all(effects.map(hashLinks))
  const { head } = await runBatch(db, {
    written: hashed.flatMap((effect) =>
      (WRITES[effect.kind] as Write<Effect['kind']>)(db, accountId, effect),
    ),
    head: selectHead(db, { accountId, now }),
  })
  const [found] = head.results
  return {
    lastEvent: found?.sequence ?? 0,
    hasSubscribers: found?.isSubscribed === 1 && effects.some(({ kind }) => kind === 'event'),
  }
}
