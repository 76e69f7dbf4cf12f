import { findRow, selectRows } from '../../db/objectTable.ts'
import { openLimit } from '../../domain/account/quota.ts'
import type { Channel } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import {
  effectiveMessageBudgets,
  emergencyReserve,
  forEachChannel,
  type MessageCounts,
} from '../../domain/message/messageBudget.ts'
import type { Decision } from '../decision.ts'
import { reserveMessages, uncountMessage } from '../devices/usage.ts'
import { type MessageRow, messageCounts } from '../tables.ts'
import { readText } from './messageQueue.ts'

/* The operator's budget for all messages of an account: of devices, notices and password links. */

/** The key of the account's own counts; no device has it, and notices have another. */
const ACCOUNT_KEY = -1

interface Purpose {
  channel: Channel
  isEmergency: boolean
}

const limitOf = ({ account, messagesPerLicense }: Decision, channel: Channel) => {
  const { messagesPerDay } = account.budgets
  const budget = effectiveMessageBudgets(messagesPerDay, messagesPerLicense, account.total)[channel]
  const reserve = emergencyReserve(budget)
  return { limit: budget + reserve, reserve }
}

/** What a message counts in its channel's budget. */
export const unitsOf = (channel: Channel, text: string): number => CHANNEL[channel].unitsOf(text)

/** How many of the first messages the budget still allows, by the units of each. */
export const countWithinBudget = (tx: Decision, purpose: Purpose, units: number[]): number => {
  const { channel, isEmergency } = purpose
  const counter = { deviceKey: ACCOUNT_KEY, day: tx.account.day, channel }
  const { sent, emergency } = findRow(tx.sql, messageCounts, counter) ?? { sent: 0, emergency: 0 }
  const limits = { ...limitOf(tx, channel), usedByEmergencies: emergency, isEmergency }
  let left = openLimit(limits) - sent
  const end = units.findIndex((count) => {
    left -= count
    return left < 0
  })
  return end === -1 ? units.length : end
}

/** Counts messages that `countWithinBudget` has allowed. */
export const takeFromBudget = (tx: Decision, purpose: Purpose, units: number[]): void => {
  const wanted = units.reduce((sum, count) => sum + count, 0)
  reserveMessages(tx, ACCOUNT_KEY, { ...purpose, ...limitOf(tx, purpose.channel), wanted })
}

/** Uncounts a message that no provider accepted. */
export const returnToBudget = (sql: SqlStorage, message: MessageRow): void => {
  const { day, channel, urgent } = message
  const units = unitsOf(channel, readText(sql, message).text)
  uncountMessage(sql, { deviceKey: ACCOUNT_KEY, day, channel }, { isEmergency: urgent, units })
}

/** What the account has sent on its day. */
export const sentToday = ({ sql, account }: Decision): MessageCounts => {
  const rows = selectRows(sql, messageCounts, { deviceKey: ACCOUNT_KEY, day: account.day })
  return forEachChannel((channel) => rows.find((row) => row.channel === channel)?.sent ?? 0)
}
