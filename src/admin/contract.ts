import * as z from 'zod'
import { account } from '../account/contract.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { done, instant, name, success, timeZone } from '../http/wire.ts'
import { apiKey, key, keyBody } from '../keys/contract.ts'

const userName = z
  .string('must be text')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{1,62}[A-Za-z0-9]$/,
    'must be 3 to 64 letters, digits or . _ @ -, and begin and end with a letter or digit',
  )
  .meta({
    description: 'What the account signs in with; compared without regard to case.',
    example: 'demo',
  })
const licenses = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(10_000_000, 'must be at most 10000000')
  .meta({ example: 25 })

export const operatedAccount = account
  .extend({
    disabled: z.boolean(),
    cell: z.int().meta({ description: 'The database that the account lives in.' }),
  })
  .meta({ id: 'OperatedAccount' })
const reply = z.object({ success, account: operatedAccount })
const WRITTEN = ['id', 'creation', 'lastModified'] as const

export const listAccounts = define({
  id: 'listAccounts',
  tag: 'Operator',
  summary: 'List accounts',
  scope: 'operator',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, accounts: z.array(operatedAccount), nextCursor }),
})

export const createAccount = define({
  id: 'createAccount',
  tag: 'Operator',
  summary: 'Open an account',
  description:
    'Answers with the account and its first API key, which may do everything and is shown once.',
  scope: 'operator',
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
      .meta({ description: 'The cell to live in; the one with the fewest accounts unless given.' }),
  }),
  ignored: [...WRITTEN, 'disabled', 'retentionDays'],
  status: 201,
  reply: reply.extend({ apiKey }),
  problems: ['user-name-taken'],
  etag: true,
  idempotent: true,
  secrets: ['apiKey'],
})

export const readOperatedAccount = define({
  id: 'readOperatedAccount',
  tag: 'Operator',
  summary: 'Read an account',
  scope: 'operator',
  reply,
  problems: ['not-found'],
  etag: true,
})

/** What the operator may change of an account; read by the patch below. */
export const replaceOperatedAccount = define({
  id: 'replaceOperatedAccount',
  tag: 'Operator',
  summary: 'An account as the operator may edit it',
  scope: 'operator',
  body: z.strictObject({ name, licenses, disabled: z.boolean('must be true or false') }),
  wrapper: 'account',
  ignored: [...WRITTEN, 'userName', 'timeZone', 'cell', 'retentionDays'],
  reply,
})

export const patchOperatedAccount = define({
  id: 'patchOperatedAccount',
  tag: 'Operator',
  summary: 'Change an account',
  description:
    'Changes `licenses` (the number; it may go below what is in use), `name` and `disabled`.',
  scope: 'operator',
  patches: replaceOperatedAccount,
  example: { licenses: 50 },
  reply,
  problems: ['not-found', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteAccount = define({
  id: 'deleteAccount',
  tag: 'Operator',
  summary: 'Erase an account',
  description: 'Everything of it is unreachable at once and erased soon. There is no way back.',
  scope: 'operator',
  reply: done,
  problems: ['not-found'],
  ifMatch: true,
})

export const createAccountKey = define({
  id: 'createAccountKey',
  tag: 'Operator',
  summary: 'Make an API key for an account',
  description:
    'For someone locked out. Without a body: a key named `operator` that may do everything.',
  scope: 'operator',
  optionalBody: true,
  body: keyBody.omit({ userId: true }).partial({ name: true, scopes: true }),
  ignored: ['id', 'creation', 'lastUsed'],
  status: 201,
  reply: z.object({ success, key, apiKey }),
  problems: ['not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})

export const restoreLedger = define({
  id: 'restoreLedger',
  tag: 'Operator',
  summary: 'Set an account’s ledger back',
  description:
    'The account, its devices, licenses, their log and counters become what they were at `time`, at most 30 days ago, by Cloudflare’s point-in-time recovery. `undo` of the answer leads back. Then reconcile the account with `restored`.',
  scope: 'operator',
  body: z
    .strictObject({
      time: instant.optional(),
      undo: z
        .string('must be text')
        .max(200)
        .optional()
        .meta({ description: 'Instead of a time: what an earlier call answered.' }),
    })
    .refine(({ time, undo }) => (time === undefined) !== (undo === undefined), {
      path: ['time'],
      error: 'is required, or undo, not both',
    }),
  example: { time: '2026-11-14T09:30:00.000Z' },
  reply: z.object({
    success,
    undo: z
      .string()
      .meta({ example: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683' }),
  }),
  problems: ['not-found', 'history-unavailable'],
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
    description: 'Rows that differed from the ledger and were written again or taken away.',
  })

const reconcile = {
  tag: 'Operator',
  scope: 'operator',
  optionalBody: true,
  body: z.strictObject({
    restored: z.boolean('must be true or false').default(false).meta({
      description:
        'The database or the ledger was set back: numbers of events and effects jump ahead even where nothing shows it.',
      example: true,
    }),
    cursor: pageQuery.cursor,
  }),
  idempotent: true,
} as const

export const reconcileAccount = define({
  ...reconcile,
  id: 'reconcileAccount',
  summary: 'Hold an account’s cell against its ledger',
  description:
    'Mends what differs, the ledger’s way. Go on with `nextCursor` until it is null, under another Idempotency-Key, if any.',
  reply: z.object({
    success,
    checked: z.int().meta({ description: 'Devices compared.' }),
    mended,
    nextCursor,
  }),
  problems: ['not-found', 'invalid-cursor', 'user-name-taken', 'account-number-taken'],
})

export const reconcileCell = define({
  ...reconcile,
  id: 'reconcileCell',
  summary: 'Hold a whole cell against its ledgers',
  description:
    'For after a database or its ledgers were restored to an earlier time. Go on with `nextCursor` until it is null, under another Idempotency-Key, if any.',
  reply: z.object({
    success,
    accounts: z.int().meta({ description: 'Accounts compared.' }),
    checked: z.int(),
    mended,
    unknown: z.array(z.string()).meta({
      description:
        'Accounts that no ledger knows, or whose user name or number another has by now; left as they are.',
      example: [],
    }),
    nextCursor,
  }),
  problems: ['not-found', 'invalid-cursor'],
})
