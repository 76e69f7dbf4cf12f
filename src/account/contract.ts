import * as z from 'zod'
import { MAX_RETENTION_DAYS } from '../domain/account/account.ts'
import { ACCOUNT_STATUSES } from '../domain/admin/status.ts'
import { define } from '../http/contract/contract.ts'
import { id, name, success, time, timeZone } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { support } from '../support/forms.ts'
import { budgets, budgetUsage } from './catalogue.ts'
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

/** Descriptions of members that are shown in several places. */
export const ABOUT = {
  status:
    '`notice`: only a message; `readOnly`: no changes; `ingestOnly`: reports come in, and nothing can be read; `disabled`: nothing but emergencies. In all of them emergencies are raised and sent, and can be handled.',
  statusMessage: 'What the operator says about the status.',
} as const

export const sandbox = z
  .object({
    of: id('acc').nullable().meta({
      description: 'The account whose administrator opened it; null when the operator did.',
    }),
    erasesAt: time.nullable().meta({
      description: 'When it is erased; null once the operator keeps it.',
    }),
  })
  .meta({ id: 'Sandbox', description: 'What makes the account a sandbox.' })
  .nullable()
  .meta({
    description:
      'Of an account to try things in, whose devices are simulated and whose messages no provider gets; null for any other.',
  })

export const account = z
  .object({
    id: id('acc'),
    userName: z.string().meta({ example: 'demo' }),
    name: z.string().meta({ example: 'Demo Shipping' }),
    timeZone: z.string().meta({ example: 'Europe/Lisbon' }),
    licenses,
    status: z.enum(ACCOUNT_STATUSES).meta({ description: ABOUT.status }),
    statusMessage: z.string().meta({ description: ABOUT.statusMessage, example: '' }),
    supportMayWrite: z.boolean().meta({
      description:
        'Whether the operator’s support may change something while it has access; otherwise it only reads.',
    }),
    support: z.array(support).optional().meta({
      description: 'Who of the operator’s support has access now. Lists of accounts leave it out.',
    }),
    sandbox,
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
    supportMayWrite: z.boolean('must be true or false').default(false).meta({
      description:
        'Whether the operator’s support may change something while it has access; otherwise it only reads.',
    }),
    ...emergencySettings,
  }),
  wrapper: 'account',
  ignored: [
    'id',
    'userName',
    'licenses',
    'status',
    'statusMessage',
    'sandbox',
    'support',
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
    'Changes `name`, `timeZone`, `retentionDays`, `supportMayWrite` and the settings for emergencies. If expired devices become active again in a new time zone, each needs a free license. A program that acts for a user by OAuth changes no `emergencyContacts` (403).',
  scope: 'admin',
  wholeAccount: true,
  patches: replaceAccount,
  example: { name: 'Demo Shipping', timeZone: 'Europe/Lisbon', retentionDays: 365 },
  reply,
  problems: ['no-license-available', 'conflict'],
  etag: true,
  ifMatch: true,
})
