import * as z from 'zod'
import { MAX_RETENTION_DAYS, NO_LIMITS } from '../domain/account/account.ts'
import {
  DEFAULT_MAX_USERS,
  MAX_LOCATIONS_PER_DAY,
  MAX_MAX_USERS,
  MAX_REQUESTS_PER_MINUTE,
  MAX_STORAGE_BYTES,
} from '../domain/account/budget.ts'
import { ACCOUNT_STATUSES } from '../domain/account/status.ts'
import { MAX_ZONES } from '../domain/geo/zone.ts'
import {
  forEachChannel,
  MAX_MESSAGES_PER_DAY,
  NO_MESSAGE_OVERRIDES,
} from '../domain/message/messageBudget.ts'
import { define } from '../http/contract/contract.ts'
import { day, id, name, success, time, timeZone } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { emergencySettings, shownEmergencySettings } from './forms.ts'

export const licenses = z
  .object({ total: z.int(), used: z.int(), available: z.int() })
  .meta({ id: 'Licenses', example: { total: 25, used: 18, available: 7 } })

const retentionDays = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(MAX_RETENTION_DAYS, `must be at most ${MAX_RETENTION_DAYS}`)
  .meta({
    description:
      'For how many days locations (from their `dateTime`) and alerts (from their arrival) are kept. The newest location of a device is always kept.',
    example: 365,
  })

const messageCounts = z.object({
  Email: z.int().meta({ description: 'E-mails.' }),
  SMS: z.int().meta({ description: 'Segments of SMS.' }),
  Push: z.int().meta({ description: 'Notifications in browsers.' }),
  Voice: z.int().meta({ description: 'Telephone calls.' }),
})

const budgets = z
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
      description: 'Requests that it may make in a minute; beyond: 429 `too-many-requests`.',
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
    requestsPerMinute: budget(MAX_REQUESTS_PER_MINUTE, 1),
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

const budgetUsage = z
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

export const account = z
  .object({
    id: id('acc'),
    userName: z.string().meta({ example: 'demo' }),
    name: z.string().meta({ example: 'Demo Shipping' }),
    timeZone: z.string().meta({ example: 'Europe/Lisbon' }),
    licenses,
    status: z.enum(ACCOUNT_STATUSES).meta({
      description:
        '`notice`: only a message; `readOnly`: no changes; `ingestOnly`: reports come in, and nothing can be read; `disabled`: nothing but emergencies. In all of them emergencies are raised and sent, and can be handled.',
    }),
    statusMessage: z.string().meta({
      description: 'What the operator says about the status.',
      example: '',
    }),
    supportMayWrite: z.boolean().meta({
      description:
        'Whether the operator’s support may change something while it has access; otherwise it only reads.',
    }),
    retentionDays,
    ...shownEmergencySettings,
    lastDrillAt: time.nullable().optional().meta({
      description:
        'When the emergency chain was last tested (an alert with `test`); null if it never was. Only the account itself shows it.',
    }),
    lastDrillAlertId: id('alr').nullable().optional().meta({
      description: 'The alert of that test: its `drill` says who was reached.',
    }),
    budgets,
    budgetUsage,
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Account' })

const reply = z.object({ success, account })

export const readAccount = define({
  id: 'readAccount',
  purpose: 'self',
  tag: 'Account',
  summary: 'Read the account',
  description:
    '`emergencyContacts` is empty without the scope `write`, and for a user who is confined to a group.',
  scope: 'read',
  reply,
  etag: true,
})

/** The members that an account can change, for `patchAccount`. Has no path of its own. */
export const replaceAccount = define({
  id: 'replaceAccount',
  tag: 'Account',
  summary: 'Replace the account',
  scope: 'admin',
  body: z.strictObject({
    name,
    timeZone,
    retentionDays,
    supportMayWrite: z.boolean('must be true or false').default(false),
    ...emergencySettings,
  }),
  wrapper: 'account',
  ignored: [
    'id',
    'userName',
    'licenses',
    'status',
    'statusMessage',
    'lastDrillAt',
    'lastDrillAlertId',
    'budgets',
    'budgetUsage',
    'creation',
    'lastModified',
  ],
  reply,
})

export const readLicenseLog = define({
  id: 'readLicenseLog',
  tag: 'Account',
  summary: 'Read the license log',
  description:
    'Licenses granted, released, expired and refused, newest first, each with the number in use afterwards. The last 100,000 entries are kept.',
  scope: 'read',
  wholeAccount: true,
  query: z.strictObject(pageQuery),
  reply: z.object({
    success,
    entries: z.array(
      z.object({
        sequence: z.int().meta({ example: 42 }),
        time,
        deviceId: id('dev').nullable(),
        what: z.enum([
          'granted',
          'released',
          'expired',
          'refused',
          'total-changed',
          'zone-changed',
        ]),
        used: z.int().meta({ example: 18 }),
        total: z.int().meta({ example: 25 }),
      }),
    ),
    nextCursor,
  }),
})

export const patchAccount = define({
  id: 'patchAccount',
  tag: 'Account',
  summary: 'Change the account',
  ignoresStorage: true,
  description:
    'Changes `name`, `timeZone`, `retentionDays`, `supportMayWrite` and the settings for emergencies. If expired devices become active again in a new time zone, each needs a free license.',
  scope: 'admin',
  wholeAccount: true,
  patches: replaceAccount,
  example: { name: 'Demo Shipping', timeZone: 'Europe/Lisbon', retentionDays: 365 },
  reply,
  problems: ['no-license-available', 'conflict'],
  etag: true,
  ifMatch: true,
})
