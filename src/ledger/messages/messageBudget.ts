import { deleteRows, findRow, selectRows } from '../../db/objectTable.ts'
import { DEVICES_PER_ACCOUNT } from '../../domain/account/device.ts'
import { openLimit } from '../../domain/account/quota.ts'
import { type Channel, type MessageKind, NO_DEVICE_KEY } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import { MAX_DRILL_MESSAGES_PER_DAY } from '../../domain/message/emergency.ts'
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

/*
 * The operator's budget for all messages of an account but resets, which have limits of their own.
 * Escalations have counts of their own, with a budget of the same size: nothing else can use it up.
 */

/** The keys of a set of counts; no device has them, and notices have another. */
interface CountKeys {
  account: number
  emergencies: number
  /** The key of the messages of a device's emergencies, and from that key the device's again. */
  ofDevice: (deviceKey: number) => number
}

export const MESSAGES: CountKeys = { account: -1, emergencies: -2, ofDevice: (key) => -2 - key }
export const ESCALATIONS: CountKeys = {
  account: -3,
  emergencies: -4,
  ofDevice: (key) => -2 - key - DEVICES_PER_ACCOUNT,
}

const keysOf = (kind: MessageKind): CountKeys => (kind === 'escalation' ? ESCALATIONS : MESSAGES)

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

const limitOf = (tx: Decision, { kind, channel }: Purpose) => {
  const budget = budgetsOf(tx)[channel]
  const reserve = kind === 'escalation' ? 0 : emergencyReserve(budget)
  return { limit: budget + reserve, reserve }
}

/** What a message counts in its channel's budget. */
export const unitsOf = (channel: Channel, text: string): number => CHANNEL[channel].unitsOf(text)

const countsOf = ({ sql, account }: Decision, deviceKey: number, channel: Channel) =>
  findRow(sql, messageCounts, { deviceKey, day: account.day, channel }) ?? { sent: 0, emergency: 0 }

/**
 * How many more messages of the device's emergencies go out whatever the budget says. The account's
 * total is bounded too: a device that is deleted and created again starts at zero. That bound has
 * room for the whole limit, so that a device which has used it up leaves the others their floor.
 */
const floorLeft = (tx: Decision, purpose: Purpose): number => {
  const { kind, channel, emergencyOf } = purpose
  if (emergencyOf === null) return 0
  const keys = keysOf(kind)
  const leftOf = (key: number, floor: number) => floor - countsOf(tx, key, channel).sent
  const ofDevice = leftOf(keys.ofDevice(emergencyOf), EMERGENCY_FLOOR)
  const ofAccount = limitOf(tx, purpose).limit + EMERGENCY_FLOOR * Math.max(1, tx.account.total)
  return Math.max(0, Math.min(ofDevice, leftOf(keys.emergencies, ofAccount)))
}

/** How many of the first messages the budget still allows, by the units of each. */
export const countWithinBudget = (tx: Decision, purpose: Purpose, units: number[]): number => {
  const { kind, channel, emergencyOf } = purpose
  if (!isCounted(kind)) return units.length
  const { sent, emergency } = countsOf(tx, keysOf(kind).account, channel)
  const isEmergency = emergencyOf !== null
  const limits = { ...limitOf(tx, purpose), usedByEmergencies: emergency, isEmergency }
  let left = openLimit(limits) - sent
  const end = units.findIndex((count) => {
    left -= count
    return left < 0
  })
  return end === -1 ? units.length : Math.max(end, Math.min(floorLeft(tx, purpose), units.length))
}

/** Counts messages that `countWithinBudget` has allowed. */
export const takeFromBudget = (tx: Decision, purpose: Purpose, units: number[]): void => {
  const { kind, channel, emergencyOf } = purpose
  if (!isCounted(kind)) return
  const keys = keysOf(kind)
  const isEmergency = emergencyOf !== null
  const count = (key: number, wanted: number) =>
    reserveMessages(tx, key, { channel, isEmergency, wanted, limit: Infinity, reserve: 0 })
  count(
    keys.account,
    units.reduce((sum, one) => sum + one, 0),
  )
  if (!isEmergency) return
  count(keys.emergencies, units.length)
  count(keys.ofDevice(emergencyOf), units.length)
}

/** Uncounts a message that no provider accepted. */
export const returnToBudget = (sql: SqlStorage, message: MessageRow): void => {
  const { kind, day, channel, urgent, deviceKey } = message
  if (!isCounted(kind)) return
  const keys = keysOf(kind)
  const isEmergency = urgent && deviceKey !== NO_DEVICE_KEY
  const uncount = (key: number, units: number) =>
    uncountMessage(sql, { deviceKey: key, day, channel }, { isEmergency, units })
  uncount(keys.account, unitsOf(channel, readText(sql, message).text))
  if (!isEmergency) return
  uncount(keys.emergencies, 1)
  uncount(keys.ofDevice(deviceKey), 1)
}

/** Deletes what was counted for the emergencies of a deleted device. */
export const deleteEmergencyCounts = (sql: SqlStorage, deviceKey: number): void => {
  for (const { ofDevice } of [MESSAGES, ESCALATIONS])
    deleteRows(sql, messageCounts, { deviceKey: ofDevice(deviceKey) })
}

/** The key of the messages of drills, which nothing else counts. */
const DRILLS_KEY = -5

/** Counts messages of drills; returns how many of those wanted may be sent. */
export const takeDrillMessages = (tx: Decision, channel: Channel, wanted: number): number => {
  const limit = MAX_DRILL_MESSAGES_PER_DAY[channel]
  const request = { channel, isEmergency: true, wanted, limit, reserve: 0 }
  return reserveMessages(tx, DRILLS_KEY, request).granted
}

/** How many password resets the account may send a day, beside its budget. */
export const maxResets = (tx: Decision): number => resetLimit(budgetsOf(tx).Email)

/** What the account has used of its budget on its day. */
export const sentToday = ({ sql, account }: Decision): MessageCounts => {
  const rows = selectRows(sql, messageCounts, { deviceKey: MESSAGES.account, day: account.day })
  return forEachChannel((channel) => rows.find((row) => row.channel === channel)?.sent ?? 0)
}
