import * as z from 'zod'
import { MAX_RETENTION_DAYS, NO_LIMITS } from '../domain/account/account.ts'
import {
  DEFAULT_MAX_USERS,
  MAX_LOCATIONS_PER_DAY,
  MAX_MAX_USERS,
  MAX_REQUESTS_PER_MINUTE,
  MAX_STORAGE_BYTES,
  MIN_REQUESTS_PER_MINUTE,
} from '../domain/account/budget.ts'
import { MAX_ZONES } from '../domain/geo/zone.ts'
import {
  forEachChannel,
  MAX_MESSAGES_PER_DAY,
  NO_MESSAGE_OVERRIDES,
} from '../domain/message/messageBudget.ts'
import { day } from '../http/contract/wire.ts'

/* The budgets of an account, as replies show them and as the operator sets them. */

const messageCounts = z.object({
  Email: z.int().meta({ description: 'E-mails.' }),
  SMS: z.int().meta({ description: 'Segments of SMS.' }),
  Push: z.int().meta({ description: 'Notifications in browsers.' }),
  Voice: z.int().meta({ description: 'Telephone calls.' }),
})

export const budgets = z
  .object({
    locationsPerDay: z.int().meta({
      description:
        'Locations that the account may report on one day of its time zone; beyond: 429 `daily-locations-reached`.',
    }),
    storageBytes: z.int().meta({
      description:
        'Bytes that everything it stores may take, with the indexes; beyond: 409 `storage-full`.',
    }),
    maxUsers: z.int().meta({
      description: 'Users that it may have; beyond: 409 `user-limit-reached`.',
    }),
    requestsPerMinute: z.int().meta({
      description:
        'Requests that it may make in a minute; beyond: 429 `too-many-requests`, and clients try again after `Retry-After`.',
    }),
    maxRetentionDays: z.int().meta({ description: 'The most that `retentionDays` may be.' }),
    maxZones: z
      .int()
      .meta({ description: 'Zones that it may have; beyond: 409 `zone-cap-reached`.' }),
    messagesPerDay: messageCounts.meta({
      description:
        'Messages that the account may send on one day of its time zone, an SMS once for each of its segments; beyond: `suppressed`, `message-budget-reached`. Password resets do not count. Emergencies may use a fifth more, at least 20, and the first 20 messages of a device’s emergencies by each channel are sent anyway.',
    }),
  })
  .meta({
    id: 'Budgets',
    description:
      'Set by the operator. Emergencies, and reports and pushes that carry one, are never refused for a budget.',
    example: {
      locationsPerDay: 250_000,
      storageBytes: 2_500_000_000,
      maxUsers: 500,
      requestsPerMinute: 6000,
      maxRetentionDays: 3650,
      maxZones: 1000,
      messagesPerDay: { Email: 2500, SMS: 500, Push: 25_000, Voice: 500 },
    },
  })

/** A budget to set; null, or left out, for the default. */
const budget = (max: number, min = 0) =>
  z
    .int('must be a whole number or null')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .nullable()
    .default(null)
/** The budgets as an operator sets them. */
export const budgetSettings = z
  .strictObject({
    locationsPerDay: budget(MAX_LOCATIONS_PER_DAY),
    storageBytes: budget(MAX_STORAGE_BYTES),
    maxUsers: budget(MAX_MAX_USERS),
    requestsPerMinute: budget(MAX_REQUESTS_PER_MINUTE, MIN_REQUESTS_PER_MINUTE),
    maxRetentionDays: budget(MAX_RETENTION_DAYS, 1),
    maxZones: budget(MAX_ZONES),
    messagesPerDay: z
      .strictObject(forEachChannel(() => budget(MAX_MESSAGES_PER_DAY)))
      .default(NO_MESSAGE_OVERRIDES),
  })
  .default(NO_LIMITS)
  .meta({
    description: `Null is the default: the configured number for each license, at least for one, and ${DEFAULT_MAX_USERS} users. Replies show the numbers that hold.`,
    example: {
      locationsPerDay: 500_000,
      storageBytes: null,
      maxUsers: null,
      requestsPerMinute: 12_000,
      maxRetentionDays: null,
      maxZones: null,
      messagesPerDay: { Email: null, SMS: 50, Push: null, Voice: null },
    },
  })

export const budgetUsage = z
  .object({
    date: day,
    locations: z.int().meta({ description: 'Locations reported on `date`.' }),
    storageBytes: z.int().meta({ description: 'Bytes that everything takes.' }),
    messages: messageCounts.optional().meta({
      description:
        'Messages sent on the account’s day, SMS by segments; resets and escalations, which have budgets of their own, are not among them. Lists of accounts leave it out.',
    }),
  })
  .meta({
    id: 'BudgetUsage',
    description: 'What is used of the budgets: an estimate that may be a minute old.',
    example: {
      date: '2026-11-14',
      locations: 18_204,
      storageBytes: 93_412_096,
      messages: { Email: 31, SMS: 4, Push: 12, Voice: 1 },
    },
  })
