import * as z from 'zod'
import { emergencySettings } from '../account/forms.ts'
import { userName } from '../admin/contract.ts'
import { MAX_RETENTION_DAYS } from '../domain/account/account.ts'
import { MIN_REQUESTS_PER_MINUTE } from '../domain/account/budget.ts'
import { PRIVILEGES } from '../domain/account/user.ts'
import { ACCOUNT_STATUSES } from '../domain/admin/status.ts'
import {
  FORMAT,
  HEAD_FILE,
  MANIFEST_FILE,
  type Manifest,
  VERSION,
} from '../domain/archive/archive.ts'
import { ArchiveError } from '../domain/archive/tar.ts'
import { forEachChannel } from '../domain/message/messageBudget.ts'
import { isObject } from '../domain/text/json.ts'
import { iso } from '../domain/time/iso.ts'
import { id, name, phone, time, timeZone } from '../http/contract/wire.ts'
import { ruleBody } from '../rules/forms.ts'
import { email } from '../users/forms.ts'
import { watchBody } from '../watches/forms.ts'
import * as zoneContract from '../zones/contract.ts'
import type { CellPartName, Target } from './parts.ts'

/* What an archive must say, beside the types of its columns. */

const MAX_INSTANT = 8.64e15
const count = z.int().min(0)
const limit = count.nullable()

const account = z.strictObject({
  id: id('acc').regex(/^acc_[0-9a-z]{22}$/),
  userName,
  name,
  timeZone,
  licenses: count.max(10_000_000),
  status: z.enum(ACCOUNT_STATUSES),
  statusMessage: z.string(),
  supportMayWrite: z.boolean(),
  // An archive of a release before sandboxes has none.
  sandbox: z
    .strictObject({ of: z.string().nullable(), erasesAt: count.nullable() })
    .nullable()
    .default(null),
  retentionDays: z.int().min(1).max(MAX_RETENTION_DAYS),
  budgets: z.strictObject({
    locationsPerDay: limit,
    storageBytes: limit,
    maxUsers: limit,
    requestsPerMinute: z.int().min(MIN_REQUESTS_PER_MINUTE).nullable(),
    maxRetentionDays: limit,
    maxZones: limit,
    messagesPerDay: z.strictObject(forEachChannel(() => limit)),
  }),
  ...emergencySettings,
  escalation: z.union([z.literal('off'), emergencySettings.escalation]),
  creation: time,
  lastModified: time,
  version: z.int().min(1),
  events: count,
})
export type ArchivedAccount = z.output<typeof account>

const refuseVersion = (value: unknown): void => {
  const { format, version } = isObject(value) ? value : {}
  if (format !== FORMAT) throw new ArchiveError(`The archive is not one of the format ${FORMAT}.`)
  if (version !== VERSION)
    throw new ArchiveError(
      `The archive has the version ${String(version)}, and this installation reads version ${VERSION}.`,
    )
}

const refuse = (file: string, error: z.ZodError | undefined): never => {
  const [issue] = error?.issues ?? []
  throw new ArchiveError(
    `The file ${file} of the archive is not valid: ${issue?.path.join('.')} ${issue?.message}.`,
  )
}

/** The account as the archive has it: what is stored are the values that were written. */
export const checkHead = (value: unknown): ArchivedAccount => {
  refuseVersion(value)
  const head = z.strictObject({ format: z.string(), version: z.int(), account }).safeParse(value)
  if (!head.success) return refuse(HEAD_FILE, head.error)
  return (value as { account: ArchivedAccount }).account
}

const manifest = z.strictObject({
  format: z.string(),
  version: z.int(),
  accountId: z.string(),
  files: z.array(
    z.strictObject({ name: z.string(), sha256: z.string(), bytes: count, rows: count }),
  ),
})

export const checkManifest = (value: unknown, accountId: string): Manifest => {
  refuseVersion(value)
  const given = manifest.safeParse(value)
  if (!given.success) return refuse(MANIFEST_FILE, given.error)
  if (given.data.accountId !== accountId)
    throw new ArchiveError('The manifest is that of another account.')
  return given.data
}

/** The sweep settles watches of all accounts together: it must be able to work with each. */
const isWatch = (record: unknown): boolean => {
  if (!isObject(record)) return false
  const { due } = record
  const isInstant = typeof due === 'number' && Math.abs(due) <= MAX_INSTANT
  const given = { ...record, deviceId: '', due: isInstant ? iso(due) : due }
  return watchBody.safeParse(given).success
}

/** What messages to a user depend on. */
const user = z.looseObject({
  email,
  timeZone,
  phone: phone.nullable(),
  privileges: z.array(z.enum(PRIVILEGES)),
})

const isRule = (record: unknown, type: unknown): boolean => {
  if (!isObject(record) || !isObject(record.when) || record.when.type !== type) return false
  const { conditionChanged, targetsChanged, ...body } = record
  return ruleBody.safeParse(body).success
}

type Row = Record<string, unknown>
const CHECKS: Partial<Record<CellPartName, (row: Row, target: Target) => boolean>> = {
  zones: ({ name: zone, description, color, shape }) =>
    zoneContract.zones.create.body.safeParse({ name: zone, description, color, shape }).success,
  rules: ({ record, type }) => isRule(record, type),
  watches: ({ record }) => isWatch(record),
  users: (row) => user.safeParse(row).success,
  events: ({ sequence }, target) => Number(sequence) <= target.sequence,
}

/** Throws unless the row is one that the service can work with. */
export const checkRow = (part: CellPartName, row: Row, target: Target): void => {
  if (CHECKS[part]?.(row, target) === false)
    throw new ArchiveError('a line has values that are not valid')
}
