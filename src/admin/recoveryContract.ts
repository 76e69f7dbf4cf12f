import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { exactlyOne, instant, success } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { common } from './contract.ts'

/* Restoring a ledger, and comparing databases with ledgers. */

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
