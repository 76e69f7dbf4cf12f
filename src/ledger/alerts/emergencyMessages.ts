import { hasRow, query, updateRows } from '../../db/objectTable.ts'
import type { RoundState } from '../../db/queries/recipients.ts'
import {
  CHANNELS,
  type Channel,
  type MessageKind,
  messageId,
  messageNumber,
  onePerAddress,
  type Position,
  type Recipient,
  SERIES,
} from '../../domain/message/alert.ts'
import { CHANNEL, WRITTEN } from '../../domain/message/channels/channels.ts'
import {
  contactRecipients,
  escalationOf,
  type UndeliveredReason,
} from '../../domain/message/emergency.ts'
import { motionAt, newestPlaceOf } from '../../domain/message/newestPlace.ts'
import type { AlertDetails, MessageText } from '../../domain/message/text/messageText.ts'
import type { Decision } from '../decision.ts'
import { selectStored } from '../messages/compose.ts'
import { isMessageOf, queueMessages, recipientsOfAlert } from '../messages/messageQueue.ts'
import { composeNotices } from '../messages/notices.ts'
import { type EmergencyRow, emergencies, messages } from '../tables.ts'
import { countMessages, type EmergencyDetails } from './emergencies.ts'
import { findRaised } from './raised.ts'

/* Messages about an alert other than its own: notices and rounds of an escalation. */

/** Composes the text for each channel and time zone once, however many recipients share it. */
export const textByTimeZone = (details: AlertDetails) => {
  const composed = new Map<string, MessageText>()
  return ({ channel, timeZone }: { channel: Channel; timeZone: string }): MessageText => {
    const key = `${channel} ${timeZone}`
    const text = composed.get(key) ?? CHANNEL[channel].composeAlert(details, timeZone)
    composed.set(key, text)
    return text
  }
}

interface AboutAlert {
  kind: MessageKind
  /** Which messages of the alert these are: ids of another series never meet theirs. */
  series: number
  deviceKey: number
  /** How many messages the alert has: theirs are numbered from there. */
  after?: number
  recipients: Recipient[]
  details: AlertDetails & { omitsSuppressed?: boolean }
}

/**
 * Queues messages about an alert, urgent for an emergency, within the account's limit for notices.
 * Returns how many are queued and how many are not.
 */
export const sendAboutAlert = (tx: Decision, about: AboutAlert) => {
  const { kind, series, deviceKey, after = 0, recipients, details } = about
  const isEmergency = details.alert.emergency
  // Nobody is called because of a notice.
  const isWanted = ({ channel }: Recipient) => kind === 'escalation' || WRITTEN.includes(channel)
  const composed = composeNotices(tx, recipients.filter(isWanted), {
    kind,
    idOf: (index) => messageId(details.alert.id, messageNumber(series, after + index)),
    textOf: textByTimeZone(details),
    isDrill: details.alert.test === true,
    emergencyOf: isEmergency ? deviceKey : null,
  })
  const stored = selectStored(composed, details.omitsSuppressed === true)
  queueMessages(tx, deviceKey, stored, isEmergency)
  const queued = composed.filter(({ status }) => status === 'queued').length
  return { queued, suppressed: composed.length - queued }
}

/** What a later message is composed from: with the newest place that the account has. */
export const withNewestPlace = (
  { now: sentAt }: Decision,
  { details, updates }: EmergencyRow,
  lastLocation: Position | null,
): EmergencyDetails => {
  const newest = newestPlaceOf(details.alert, updates, lastLocation)
  if (!newest) return details
  return { ...details, motion: motionAt(newest, details.motion, lastLocation), newest, sentAt }
}

/** Whether the alert had messages of its own that are too old for the ledger. */
const hasForgottenMessages = (sql: SqlStorage, alertId: string): boolean =>
  findRaised(sql, alertId)?.undelivered == null &&
  !hasRow(sql, messages, query`${isMessageOf(alertId)} AND ${messages.kind} = 'alert'`)

/**
 * Everyone sent a message who may still get one, and the emergency contacts. Where the account wants
 * calls, also the users who have chosen them.
 */
export const recipientsNow = (
  { sql, account }: Decision,
  alertId: string,
  state: RoundState | null,
  deliveries: Recipient[] = [],
): Recipient[] => {
  const notified = [...recipientsOfAlert(sql, alertId), ...deliveries]
  const isForgotten = state !== null && hasForgottenMessages(sql, alertId)
  const isCall = ({ channel }: Recipient) => !WRITTEN.includes(channel)
  // Who is called is decided by what users choose now, where that is known.
  const wanted = [
    ...notified.filter((one) => state === null || !isCall(one)),
    ...(state?.recipients ?? []).filter((one) => isForgotten || isCall(one)),
  ]
  const isActive = ({ userId }: Recipient) => userId == null || !state || state.userIds.has(userId)
  const channels = escalationOf(account)?.voice ? CHANNELS : WRITTEN
  return onePerAddress([
    ...wanted.filter((one) => isActive(one) && channels.includes(one.channel)),
    ...contactRecipients(account, account.timeZone, channels),
  ])
}

/** Notifies the account that an emergency has reached nobody. */
export const reportUndelivered = (
  tx: Decision,
  row: EmergencyRow,
  { reason, lastLocation = null }: { reason: UndeliveredReason; lastLocation?: Position | null },
): void => {
  const { administrators, deviceId } = row.details
  const { account } = tx
  const { queued: notices, suppressed: noticesSuppressed } = sendAboutAlert(tx, {
    kind: 'notice',
    series: SERIES.undelivered,
    deviceKey: row.deviceKey,
    after: row.messages,
    recipients: onePerAddress([...administrators, ...contactRecipients(account, account.timeZone)]),
    details: {
      ...withNewestPlace(tx, row, lastLocation),
      purpose: { kind: 'undelivered', reason },
    },
  })
  const log = { at: tx.now, action: 'undelivered', by: null, text: reason } as const
  countMessages(tx, row, notices + noticesSuppressed, log)
  updateRows(tx.sql, emergencies, { checkAt: null, reports: row.reports + 1 }, { id: row.id })
  const about = { alertId: row.id, alertName: row.name, reason }
  tx.emit('alert.undelivered', deviceId, { ...about, notices, noticesSuppressed })
}
