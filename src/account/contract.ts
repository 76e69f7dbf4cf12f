import * as z from 'zod'
import { MAX_RETENTION_DAYS } from '../domain/account.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { id, name, success, time, timeZone } from '../http/wire.ts'

export const licenses = z
  .object({ total: z.int(), used: z.int(), available: z.int() })
  .meta({ id: 'Licenses', example: { total: 25, used: 18, available: 7 } })

const retentionDays = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(MAX_RETENTION_DAYS, `must be at most ${MAX_RETENTION_DAYS}`)
  .meta({
    description: 'For how many days locations and alerts are kept, from their `dateTime`.',
    example: 365,
  })

export const account = z
  .object({
    id: id('acc'),
    userName: z.string().meta({ example: 'demo' }),
    name: z.string().meta({ example: 'Demo Shipping' }),
    timeZone: z.string().meta({ example: 'Europe/Lisbon' }),
    licenses,
    retentionDays,
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Account' })

const reply = z.object({ success, account })

export const readAccount = define({
  id: 'readAccount',
  tag: 'Account',
  summary: 'Read the account',
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
  body: z.strictObject({ name, timeZone, retentionDays }),
  wrapper: 'account',
  ignored: ['id', 'userName', 'licenses', 'creation', 'lastModified'],
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
  description:
    'Changes `name`, `timeZone` and `retentionDays`. If expired devices become active again in a new time zone, each needs a free license.',
  scope: 'admin',
  wholeAccount: true,
  patches: replaceAccount,
  example: { name: 'Demo Shipping', timeZone: 'Europe/Lisbon', retentionDays: 365 },
  reply,
  problems: ['no-license-available', 'conflict'],
  etag: true,
  ifMatch: true,
})
