import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { parseLocation, selectLastLocation } from '../db/queries/locations.ts'
import { isInGroup } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, alerts, devices, keys, messages, users } from '../db/schema.ts'
import { compile, literal, type Placeholders, placeholders, readFirst } from '../db/statement.ts'
import type { Place } from '../domain/message/alert.ts'
import { placeOf } from '../domain/message/alertText.ts'
import { LINK_VALID_MS } from '../domain/message/link.ts'
import { newestPlaceOf } from '../domain/message/newestPlace.ts'

const p = placeholders('hash', 'accountId', 'messageId', 'now')

/** Users see their link as long as they may see the device. */
const IS_ACTIVE_USER = sql`(${users.disabled} = 0
  AND ifnull(${users.fromTime}, ${p.now}) <= ${p.now}
  AND (${users.expires} IS NULL OR ${users.expires} > ${p.now})
  AND (${users.groupId} IS NULL OR ${isInGroup(devices.key, users.groupId)}))`

/** The emergency contact with the address of the message, if it still is one. */
const CONTACT = sql`(SELECT ifnull(${messages.contact}, value ->> 'name')
  FROM json_each(${accounts.emergency}, '$.emergencyContacts')
  WHERE ${messages.recipient} IN (value ->> 'email', value ->> 'phone') LIMIT 1)`

const sharing = alias(users, 'sharing')
/** A message may name neither: then its recipient is found by the address. */
const USER_ID = sql`CASE WHEN ${messages.userId} IS NOT NULL THEN ${messages.userId}
  WHEN ${messages.contact} IS NULL THEN (SELECT ${sharing.id} FROM ${users} ${sharing}
    WHERE ${sharing.accountId} = ${messages.accountId}
      AND ${messages.recipient} IN (${sharing.email}, ${sharing.phone}) LIMIT 1) END`

/** An emergency contact may be named like the id of another account's user or key. */
const nameOf = (author: SQLWrapper) => sql<string | null>`coalesce(
  (SELECT u.name FROM ${users} u WHERE u.id = ${author} AND u.account_id = ${alerts.accountId}),
  (SELECT ${keys.name} FROM ${keys}
    WHERE ${keys.id} = ${author} AND ${keys.accountId} = ${alerts.accountId}),
  ${author})`

/** The alert of the message that is meant, if its recipient may see it. */
const selectAlertOf = (isMeant: SQL) =>
  select(
    {
      accountId: messages.accountId,
      alertId: alerts.id,
      deviceId: devices.id,
      deviceName: devices.name,
      name: alerts.name,
      text: alerts.text,
      dateTime: alerts.time,
      latitude: alerts.latitude,
      longitude: alerts.longitude,
      positionTime: alerts.positionTime,
      positionSource: alerts.positionSource,
      place: alerts.place,
      updates: alerts.updates,
      lastLocation: selectLastLocation(alerts.deviceKey),
      emergency: alerts.emergency,
      test: alerts.test,
      acknowledgedAt: alerts.acknowledgedAt,
      acknowledgedBy: alerts.acknowledgedBy,
      acknowledger: nameOf(alerts.acknowledgedBy),
      resolver: nameOf(alerts.resolvedBy),
      resolvedAt: alerts.resolvedAt,
      resolvedBy: alerts.resolvedBy,
      cancelledAt: alerts.cancelledAt,
      cancelledBy: alerts.cancelledBy,
      reopened: alerts.reopened,
      notes: alerts.notes,
      seq: alerts.seq,
      userId: sql<string | null>`${users.id}`,
      userName: sql<string | null>`${users.name}`,
      contact: sql<string | null>`${CONTACT}`,
      timeZone: sql<string>`coalesce(${users.timeZone}, ${accounts.timeZone})`,
    },
    sql`FROM ${messages}
    CROSS JOIN ${alerts} ON ${alerts.accountId} = ${messages.accountId}
      AND ${alerts.id} = 'alr_' || substr(${messages.id}, 5, length(${messages.id}) - 8)
    CROSS JOIN ${devices} ON ${devices.key} = ${alerts.deviceKey}
    CROSS JOIN ${accounts} ON ${accounts.id} = ${messages.accountId} AND ${accounts.deletedAt} IS NULL
    LEFT JOIN ${users} ON ${users.id} = ${USER_ID}
      AND ${users.accountId} = ${messages.accountId}
    WHERE ${isMeant}
      AND CASE WHEN ${users.id} IS NOT NULL THEN ${IS_ACTIVE_USER}
        ELSE ${messages.userId} IS NULL AND ${CONTACT} IS NOT NULL END`,
  )

const selectLinked = compile((_: Placeholders<{ hash: string; now: number }>) =>
  selectAlertOf(sql`${messages.linkHash} = ${p.hash} AND ${messages.linkExpires} > ${p.now}`),
)

interface Call {
  accountId: string
  messageId: string
  now: number
}

const selectCalled = compile((_: Placeholders<Call>) =>
  selectAlertOf(sql`${messages.accountId} = ${p.accountId} AND ${messages.id} = ${p.messageId}
    AND ${messages.channel} = 'Voice' AND ${messages.changed} > ${p.now} - ${literal(LINK_VALID_MS)}`),
)

/** Null for a call that nobody got, that is older than a valid link, or whose recipient may not use it. */
export const findCalledAlert = async (db: Database, call: Call) => {
  const row = await readFirst(selectCalled(db, call))
  return row && { ...row, known: row, recipient: row.userId ?? row.contact ?? '' }
}
export type CalledAlert = NonNullable<Awaited<ReturnType<typeof findCalledAlert>>>

/** A place with the time at which the device was there; null if that is not known. */
export interface TimedPlace extends Place {
  time: number | null
  words?: string | null | undefined
}

/** Null for a link that nobody was sent, that has expired, or whose recipient may not use it. */
export const findLinkedAlert = async (db: Database, hash: string, now: number) => {
  const row = await readFirst(selectLinked(db, { hash, now }))
  if (!row) return null
  const { userId, userName, contact, acknowledger, resolver, ...rest } = row
  const { updates, lastLocation, ...alert } = rest
  const place = placeOf(alert)
  const first: TimedPlace | null = place && {
    ...place,
    time: alert.positionTime,
    words: alert.place,
  }
  // A link is valid for days: of an alert that is over, only its own places are shown.
  const isOver = alert.resolvedAt !== null || alert.cancelledAt !== null
  const last = isOver ? null : parseLocation(lastLocation)
  const newest = newestPlaceOf(alert, updates ?? [], last && { ...last, time: last.dateTime })
  return {
    ...alert,
    now,
    first,
    newest: newest?.source === 'alert' ? first : newest,
    /** The names of whoever acknowledged and resolved it. */
    acknowledgedBy: acknowledger,
    resolvedBy: resolver,
    /** What the ledger may have deleted. */
    known: row,
    /** The recipient of the message: a user's id, or the name of an emergency contact. */
    recipient: userId ?? contact ?? '',
    recipientName: userName ?? contact ?? '',
  }
}

/** What a link shows, and as whom it acknowledges. */
export type LinkedAlert = NonNullable<Awaited<ReturnType<typeof findLinkedAlert>>>
