import * as z from 'zod'
import { budgetSettings } from '../account/catalogue.ts'
import { account } from '../account/contract.ts'
import { ACCOUNT_STATUSES, UNDELETE_ACCOUNT_DAYS } from '../domain/admin/status.ts'
import { SANDBOX_DAYS, SANDBOX_LICENSES } from '../domain/sandbox/sandbox.ts'
import { define } from '../http/contract/contract.ts'
import { done, name, search, success, time, timeZone } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { apiKey, keyBody, newKeyReply } from '../keys/contract.ts'

export const userName = z
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
export const reply = z.object({ success, account: operatedAccount })
export const common = { tag: 'Operator', scope: 'operator' } as const
const WRITTEN = [
  'id',
  'deletedAt',
  'erasesAt',
  'supportMayWrite',
  'support',
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
  right: 'read',
  summary: 'List accounts',
  description:
    'In the order in which they were opened. A search scans 5,000 accounts for a page, which may therefore have fewer rows than asked for, or none: go on with `nextCursor`.',
  query: z.strictObject({
    ...pageQuery,
    q: search.meta({
      description: 'A part of the name or the user name, ignoring case, or the id.',
      example: 'ship',
    }),
    userName: search.meta({ description: 'The user name, ignoring case.', example: 'demo' }),
    state: z
      .enum([...ACCOUNT_STATUSES, 'deleted'], 'must be a status, or deleted')
      .optional()
      .meta({ description: 'The `status` of accounts that exist, or `deleted`.' }),
    cell: z.coerce
      .number('must be a whole number')
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(9999, 'must be at most 9999')
      .optional()
      .meta({ description: 'The number of the database.', example: 0 }),
  }),
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
    licenses: licenses.optional().meta({
      description: `Required, except of a sandbox, which has ${SANDBOX_LICENSES}.`,
      example: 25,
    }),
    timeZone,
    sandbox: z
      .boolean('must be true or false')
      .default(false)
      .meta({
        description: `Opens a sandbox: it has simulated devices that move, no provider gets its messages, no month of it is closed for an invoice, and it is erased after ${SANDBOX_DAYS} days unless somebody keeps it.`,
      }),
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
  right: 'read',
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
    statusMessage: z
      .string('must be text')
      .max(500, 'must have at most 500 characters')
      .meta({ description: 'What the account is shown about its status.' }),
    disabled: z.boolean('must be true or false').meta({
      description: 'Sets `status` to `disabled`, or from it back to `active`.',
    }),
    budgets: budgetSettings,
  }),
  wrapper: 'account',
  ignored: [...WRITTEN, 'userName', 'timeZone', 'cell', 'sandbox', 'retentionDays', 'budgetUsage'],
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
  summary: 'Delete an account',
  description: `The account is unreachable at once and sends nothing more. It is kept for ${UNDELETE_ACCOUNT_DAYS} days, its user name stays taken, and \`POST …/undelete\` brings everything back; then it is erased. With \`?now=true\`, and its user name in the body, it is erased at once, which cannot be undone.`,
  query: z.strictObject({
    now: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .meta({ description: 'Erases the account at once.' }),
  }),
  optionalBody: true,
  body: z.strictObject({
    userName: z
      .string('must be text')
      .optional()
      .meta({ description: 'Required with `now`: the account’s user name.', example: 'demo' }),
  }),
  reply: done,
  problems: ['account-not-found'],
  ifMatch: true,
})

export const undeleteAccount = define({
  id: 'undeleteAccount',
  ...common,
  summary: 'Bring a deleted account back',
  description: 'Everything is as before: users, keys, devices, licenses, tracks and events.',
  reply,
  problems: ['account-not-found', 'account-not-deleted'],
  etag: true,
})

export const keepAccount = define({
  id: 'keepAccount',
  ...common,
  summary: 'Keep a sandbox',
  description: 'It is not erased by itself any more. It stays a sandbox.',
  reply,
  problems: ['account-not-found', 'not-a-sandbox'],
  etag: true,
})

export const createAccountKey = define({
  id: 'createAccountKey',
  ...common,
  summary: 'Create an API key for an account',
  description:
    'For a customer who has lost access. Without a body, the key is named `operator` and has the scope `admin`.',
  optionalBody: true,
  body: keyBody.omit({ userId: true }).partial({ name: true, scopes: true }),
  ignored: ['id', 'creation', 'lastUsed', 'support'],
  status: 201,
  reply: newKeyReply,
  problems: ['account-not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})
