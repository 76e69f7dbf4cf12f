import { type Account, MAX_RETENTION_DAYS } from '../domain/account/account.ts'
import {
  type Budgets,
  DEFAULT_MAX_USERS,
  effectiveBudgets,
  type Usage,
  usageAsOf,
} from '../domain/account/budget.ts'
import { available, currentDay } from '../domain/account/license.ts'
import { MAX_ZONES } from '../domain/geo/zone.ts'
import { type EmergencySettings, escalationOf } from '../domain/message/emergency.ts'
import { effectiveMessageBudgets, type MessageCounts } from '../domain/message/messageBudget.ts'
import type { Sandbox } from '../domain/sandbox/sandbox.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'
import { presentSupport } from '../support/forms.ts'
import type { Support } from '../support/store.ts'

/** What an account's view needs beside the account. */
export interface BudgetContext {
  usage: Usage | null
  /** The default budgets. */
  perLicense: Budgets & { messagesPerDay: MessageCounts; requestsPerMinute: number }
  /** Who of the operator's support has access; lists of accounts leave it out. */
  support?: Support[]
  /** The messages of the day; lists of accounts leave them out. */
  sent?: MessageCounts
  /** The last test of the emergency chain, for the account itself. */
  lastDrill?: { at: number; alertId: string } | null
  now: number
}

const presentUsage = (usage: Usage, messages: MessageCounts | undefined) => {
  const { day: date, locations, storageBytes } = usage
  return { date, locations, storageBytes, ...(messages && { messages }) }
}

const presentEscalation = (settings: EmergencySettings) => {
  const escalation = escalationOf(settings)
  if (!escalation) return null
  const { afterMinutes, rounds, againAfterMinutes = null, voice = false } = escalation
  return { afterMinutes, rounds, againAfterMinutes, voice }
}

export const presentSandbox = (sandbox: Sandbox | null) =>
  sandbox && { of: sandbox.of, erasesAt: isoOrNull(sandbox.erasesAt) }

export const presentAccount = (
  account: Omit<Account, 'number' | 'version'>,
  { usage, perLicense, sent, lastDrill, support, now }: BudgetContext,
) => {
  const { id, userName, name, timeZone, total, used, retentionDays } = account
  return {
    id,
    userName,
    name,
    timeZone,
    licenses: { total, used, available: available({ total, used }) },
    status: account.status,
    statusMessage: account.statusMessage,
    supportMayWrite: account.supportMayWrite,
    ...(support && { support: support.map(presentSupport) }),
    sandbox: presentSandbox(account.sandbox),
    retentionDays,
    emergencyAlerts: account.emergencyAlerts,
    emergencyContacts: account.emergencyContacts,
    escalation: presentEscalation(account),
    dailyNoticeLimit: account.dailyNoticeLimit,
    ...(lastDrill !== undefined && {
      lastDrillAt: isoOrNull(lastDrill?.at ?? null),
      lastDrillAlertId: lastDrill?.alertId ?? null,
    }),
    budgets: {
      ...effectiveBudgets(account.budgets, perLicense, total),
      maxUsers: account.budgets.maxUsers ?? DEFAULT_MAX_USERS,
      requestsPerMinute: account.budgets.requestsPerMinute ?? perLicense.requestsPerMinute,
      maxRetentionDays: account.budgets.maxRetentionDays ?? MAX_RETENTION_DAYS,
      maxZones: account.budgets.maxZones ?? MAX_ZONES,
      messagesPerDay: effectiveMessageBudgets(
        account.budgets.messagesPerDay,
        perLicense.messagesPerDay,
        total,
      ),
    },
    budgetUsage: presentUsage(usageAsOf(usage, currentDay(account, now)), sent),
    creation: iso(account.creation),
    lastModified: iso(account.lastModified),
  }
}
