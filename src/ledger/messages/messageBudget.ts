import { deleteRows, findRow, selectRows } from '../../db/objectTable.ts'
import { openLimit } from '../../domain/account/quota.ts'
import { type Channel, type MessageKind, NO_DEVICE_KEY } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import {
  EMERGENCY_FLOOR,
  effectiveMessageBudgets,
  emergencyReserve,
  forEachChannel,
  type MessageCounts,
  resetLimit,
} from '../../domain/message/messageBudget.ts'
import type { Decision } from '../decision.ts'
import { reserveMessages, uncountMessage } from '../devices/usage.ts'
import { type MessageRow, messageCounts } from '../tables.ts'
import { readText } from './messageQueue.ts'

/* The operator's budget for all messages of an account but resets, which have limits of their own. */

/** The keys of the account's own counts; no device has them, and notices have another. */
const ACCOUNT_KEY = -1
const ACCOUNT_EMERGENCIES_KEY = -2
/** The key of all messages of a device's emergencies, its notices and escalations too. */
const emergenciesKey = (deviceKey: number): number => ACCOUNT_EMERGENCIES_KEY - deviceKey

interface Purpose {
  kind: MessageKind
  channel: Channel
  /** The key of the device whose emergency it is. */
  emergencyOf: number | null
}

/** Anybody can ask for resets, and that must not use up what alerts need, nor the reverse. */
const isCounted = (kind: MessageKind): boolean => kind !== 'reset'

const budgetsOf = ({ account, perLicense }: Decision): MessageCounts =>
  effectiveMessageBudgets(account.budgets.messagesPerDay, perLicense.messagesPerDay, account.total)

const limitOf = (tx: Decision, channel: Channel) => {
  const budget = budgetsOf(tx)[channel]
  const reserve = emergencyReserve(budget)
  return { limit: budget + reserve, reserve }
}

/** What a message counts in its channel's budget. */
export const unitsOf = (channel: Channel, text: string): number => CHANNEL[channel].unitsOf(text)

const countsOf = ({ sql, account }: Decision, deviceKey: number, channel: Channel) =>
  findRow(sql, messageCounts, { deviceKey, day: account.day, channel }) ?? { sent: 0, emergency: 0 }

/**
 * How many more messages of the device's emergencies go out whatever the budget says. The account's
 * total is bounded too: a device that is deleted and created again starts at zero.
 */
const floorLeft = (tx: Decision, deviceKey: number, channel: Channel): number => {
  const leftOf = (key: number, floor: number) => floor - countsOf(tx, key, channel).sent
  const ofDevice = leftOf(emergenciesKey(deviceKey), EMERGENCY_FLOOR)
  const ofAccount = EMERGENCY_FLOOR * Math.max(1, tx.account.total)
  return Math.max(0, Math.min(ofDevice, leftOf(ACCOUNT_EMERGENCIES_KEY, ofAccount)))
}

/** How many of the first messages the budget still allows, by the units of each. */
export const countWithinBudget = (tx: Decision, purpose: Purpose, units: number[]): number => {
  const { kind, channel, emergencyOf } = purpose
  if (!isCounted(kind)) return units.length
  const { sent, emergency } = countsOf(tx, ACCOUNT_KEY, channel)
  const isEmergency = emergencyOf !== null
  const limits = { ...limitOf(tx, channel), usedByEmergencies: emergency, isEmergency }
  let left = openLimit(limits) - sent
  const end = units.findIndex((count) => {
    left -= count
    return left < 0
  })
  const floor = isEmergency ? floorLeft(tx, emergencyOf, channel) : 0
  return end === -1 ? units.length : Math.max(end, Math.min(floor, units.length))
}

/** Counts messages that `countWithinBudget` has allowed. */
export const takeFromBudget = (tx: Decision, purpose: Purpose, units: number[]): void => {
  const { kind, channel, emergencyOf } = purpose
  if (!isCounted(kind)) return
  const isEmergency = emergencyOf !== null
  const count = (key: number, wanted: number) =>
    reserveMessages(tx, key, { channel, isEmergency, wanted, limit: Infinity, reserve: 0 })
  count(
    ACCOUNT_KEY,
    units.reduce((sum, one) => sum + one, 0),
  )
  if (!isEmergency) return
  count(ACCOUNT_EMERGENCIES_KEY, units.length)
  count(emergenciesKey(emergencyOf), units.length)
}

/** Uncounts a message that no provider accepted. */
export const returnToBudget = (sql: SqlStorage, message: MessageRow): void => {
  const { kind, day, channel, urgent, deviceKey } = message
  if (!isCounted(kind)) return
  const isEmergency = urgent && deviceKey !== NO_DEVICE_KEY
  const uncount = (key: number, units: number) =>
    uncountMessage(sql, { deviceKey: key, day, channel }, { isEmergency, units })
  uncount(ACCOUNT_KEY, unitsOf(channel, readText(sql, message).text))
  if (!isEmergency) return
  uncount(ACCOUNT_EMERGENCIES_KEY, 1)
  uncount(emergenciesKey(deviceKey), 1)
}

/** Deletes what was counted for the emergencies of a deleted device. */
export const deleteEmergencyCounts = (sql: SqlStorage, deviceKey: number): void =>
  deleteRows(sql, messageCounts, { deviceKey: emergenciesKey(deviceKey) })

/** How many password resets the account may send a day, beside its budget. */
export const maxResets = (tx: Decision): number => resetLimit(budgetsOf(tx).Email)

/** What the account has sent on its day. */
export const sentToday = ({ sql, account }: Decision): MessageCounts => {
  const rows = selectRows(sql, messageCounts, { deviceKey: ACCOUNT_KEY, day: account.day })
  return forEachChannel((channel) => rows.find((row) => row.channel === channel)?.sent ?? 0)
}
