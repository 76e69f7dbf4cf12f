import * as z from 'zod'
import { account, budgetSettings } from '../account/contract.ts'
import { ACCOUNT_STATUSES } from '../domain/account/status.ts'
import { define } from '../http/contract/contract.ts'
import { done, exactlyOne, instant, name, success, time, timeZone } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { apiKey, keyBody, newKeyReply } from '../keys/contract.ts'

const userName = z
  .string('must be text')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{1,62}[A-Za-z0-9]$/,
    'must have 3 to 64 letters, digits or . _ @ -, and begin and end with a letter or digit',
  )
  .meta({
    description: 'The name that the account signs in with; compared ignoring case.',
    example: 'demo',
  })
const licenses = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(10_000_000, 'must be at most 10000000')
  .meta({ example: 25 })

export const operatedAccount = account
  .extend({
    disabled: z.boolean().meta({ description: 'Whether `status` is `disabled`.' }),
    deletedAt: time.nullable().meta({ description: 'When it was deleted; null while it exists.' }),
    erasesAt: time.nullable().meta({
      description: 'When a deleted account is erased; until then it can be brought back.',
    }),
    cell: z.int().meta({ description: 'The number of the database that stores the account.' }),
  })
  .meta({ id: 'OperatedAccount' })
const reply = z.object({ success, account: operatedAccount })
const common = { tag: 'Operator', scope: 'operator' } as const
const WRITTEN = [
  'id',
  'deletedAt',
  'erasesAt',
  'supportMayWrite',
  'creation',
  'lastModified',
  'emergencyAlerts',
  'emergencyContacts',
  'escalation',
  'dailyNoticeLimit',
  'lastDrillAt',
  'lastDrillAlertId',
] as const

export const listAccounts = define({
  id: 'listAccounts',
  ...common,
  summary: 'List accounts',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, accounts: z.array(operatedAccount), nextCursor }),
})

export const createAccount = define({
  id: 'createAccount',
  ...common,
  status: 201,
  etag: true,
  idempotent: true,
  summary: 'Open an account',
  description:
    'Creates the account and its first API key, which has the scope `admin` and is shown only once.',
  body: z.strictObject({
    userName,
    name: name.meta({ example: 'Demo Shipping' }),
    licenses,
    timeZone,
    cell: z
      .int('must be a whole number')
      .min(0)
      .max(9999)
      .optional()
      .meta({ description: 'The database to use; by default the smallest.' }),
  }),
  ignored: [
    ...WRITTEN,
    'disabled',
    'status',
    'statusMessage',
    'retentionDays',
    'budgets',
    'budgetUsage',
  ],
  reply: reply.extend({ apiKey }),
  problems: ['user-name-taken', 'cells-full'],
  secrets: ['apiKey'],
})

export const readOperatedAccount = define({
  id: 'readOperatedAccount',
  ...common,
  summary: 'Read an account',
  reply,
  problems: ['account-not-found'],
  etag: true,
})

/** The members that an operator can change, for `patchOperatedAccount`. Has no path of its own. */
export const replaceOperatedAccount = define({
  id: 'replaceOperatedAccount',
  ...common,
  summary: 'Replace an account',
  body: z.strictObject({
    name,
    licenses,
    status: z.enum(ACCOUNT_STATUSES),
    statusMessage: z.string('must be text').max(500, 'must have at most 500 characters'),
    disabled: z.boolean('must be true or false').meta({
      description: 'Sets `status` to `disabled`, or from it back to `active`.',
    }),
    budgets: budgetSettings,
  }),
  wrapper: 'account',
  ignored: [...WRITTEN, 'userName', 'timeZone', 'cell', 'retentionDays', 'budgetUsage'],
  reply,
})

export const patchOperatedAccount = define({
  id: 'patchOperatedAccount',
  ...common,
  summary: 'Change an account',
  description:
    'Changes `licenses` (the total, which may be lower than the number in use), `name`, `status`, `statusMessage`, `disabled` and `budgets`. A changed budget holds within a minute.',
  patches: replaceOperatedAccount,
  example: { licenses: 50 },
  reply,
  problems: ['account-not-found', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteAccount = define({
  id: 'deleteAccount',
  ...common,
  summary: 'Erase an account',
  description:
    'The account is unreachable at once and its data is erased soon after. This cannot be undone.',
  reply: done,
  problems: ['account-not-found'],
  ifMatch: true,
})

export const createAccountKey = define({
  id: 'createAccountKey',
  ...common,
  summary: 'Create an API key for an account',
  description:
    'For a customer who has lost access. Without a body, the key is named `operator` and has the scope `admin`.',
  optionalBody: true,
  body: keyBody.omit({ userId: true }).partial({ name: true, scopes: true }),
  ignored: ['id', 'creation', 'lastUsed'],
  status: 201,
  reply: newKeyReply,
  problems: ['account-not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})

export const restoreLedger = define({
  id: 'restoreLedger',
  ...common,
  summary: 'Restore an account’s ledger',
  description:
    'Sets the account, its devices, licenses, license log and counters to their state at `time`, at most 30 days ago, by Cloudflare’s point-in-time recovery. `undo` of the reply reverts this. Reconcile the account with `restored` afterwards.',
  body: z
    .strictObject({
      time: instant.optional(),
      undo: z
        .string('must be text')
        .max(200)
        .optional()
        .meta({ description: 'Instead of `time`: the `undo` of an earlier reply.' }),
    })
    .refine(({ time, undo }) => (time === undefined) !== (undo === undefined), {
      path: ['time'],
      error: 'is required unless `undo` is given; send one of the two',
    })
    .meta({ override: exactlyOne('time', 'undo') }),
  example: { time: '2026-11-14T09:30:00.000Z' },
  reply: z.object({
    success,
    undo: z
      .string()
      .meta({ example: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683' }),
  }),
  problems: ['account-not-found', 'history-unavailable'],
  idempotent: true,
})

const mended = z
  .object({
    account: z.int(),
    devices: z.int(),
    removed: z.int(),
    usage: z.int(),
    directory: z.int(),
    events: z.int(),
    erased: z.int(),
  })
  .meta({
    id: 'Mended',
    description: 'Rows that differed from the ledger and were rewritten or deleted, by kind.',
  })

const reconcile = {
  ...common,
  optionalBody: true,
  body: z.strictObject({
    restored: z.boolean('must be true or false').default(false).meta({
      description:
        'Set this after restoring the database or the ledger: the numbers of events and effects then jump ahead, so that none is used twice.',
      example: true,
    }),
    cursor: pageQuery.cursor,
  }),
  idempotent: true,
} as const

export const reconcileAccount = define({
  ...reconcile,
  id: 'reconcileAccount',
  summary: 'Reconcile an account with its ledger',
  description:
    'Compares the account’s rows in its database with its ledger and corrects what differs. Repeat with `nextCursor` until it is null, each time with a new Idempotency-Key if you use one.',
  reply: z.object({
    success,
    checked: z.int().meta({ description: 'Number of devices compared.' }),
    mended,
    nextCursor,
  }),
  problems: ['account-not-found', 'invalid-cursor', 'user-name-taken', 'account-number-taken'],
})

export const reconcileCell = define({
  ...reconcile,
  id: 'reconcileCell',
  summary: 'Reconcile a database with its ledgers',
  description:
    'For use after a database or its ledgers were restored to an earlier time. Repeat with `nextCursor` until it is null, each time with a new Idempotency-Key if you use one.',
  reply: z.object({
    success,
    accounts: z.int().meta({ description: 'Number of accounts compared.' }),
    checked: z.int(),
    mended,
    unknown: z.array(z.string()).meta({
      description:
        'Ids of accounts that were skipped: they have no ledger, or another account has their user name or number.',
      example: [],
    }),
    nextCursor,
  }),
  problems: ['cell-not-found', 'invalid-cursor'],
})
