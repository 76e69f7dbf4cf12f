import * as z from 'zod'
import { common } from '../admin/contract.ts'
import { MOVE_STEPS } from '../domain/admin/move.ts'
import { define } from '../http/contract/contract.ts'
import { success, time } from '../http/contract/wire.ts'

const count = (description: string) => z.int().meta({ description, example: 1200 })

export const move = z
  .object({
    from: z.int().meta({ description: 'The cell that the account leaves.', example: 0 }),
    to: z.int().meta({ description: 'The cell that it moves to.', example: 1 }),
    step: z.enum(MOVE_STEPS).meta({
      description:
        '`copying` and `catchingUp` come before the switch and can be cancelled; `verifying` and `erasing` follow it; `done` and `cancelled` are the ends.',
    }),
    started: time.meta({ description: 'When it began.' }),
    changed: time.meta({ description: 'When it last made progress.' }),
    switched: time.nullable().meta({ description: 'Since when the account is in the new cell.' }),
    frozenMs: z.int().nullable().meta({
      description: 'For how many milliseconds writes were refused; null before the switch.',
      example: 240,
    }),
    copied: count('Rows that were copied while the account ran.'),
    caughtUp: count('Rows that changed meanwhile and were copied again.'),
    verified: count('Rows that were compared after the switch.'),
    corrected: z.int().meta({
      description: 'Rows that were found different and corrected. Report it if it is not 0.',
      example: 0,
    }),
    fault: z
      .string()
      .nullable()
      .meta({ description: 'Why it does not go on; null while it does.' }),
  })
  .meta({ id: 'AccountMove' })
const reply = z.object({ success, move: move.meta({ description: 'The move.' }) })

export const moveAccount = define({
  id: 'moveAccount',
  ...common,
  summary: 'Move an account to another cell',
  description:
    'Copies the account while it runs, copies what changed meanwhile, switches, compares both and deletes the old rows. Around the switch writes of the account get a 503 `account-moving` with `Retry-After`, usually for less than a second and never for more than 8; pushes of sources wait for it. It continues by itself: `GET` shows how far it is.',
  body: z.strictObject({
    cell: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(9999, 'must be at most 9999')
      .meta({ description: 'The number of the cell to move to.', example: 1 }),
  }),
  reply,
  problems: ['account-not-found', 'move-running', 'cells-full'],
})

export const readMove = define({
  id: 'readMove',
  ...common,
  right: 'read',
  summary: 'Read the move of an account',
  description: 'The last move, also after its end.',
  reply,
  problems: ['account-not-found', 'move-not-found'],
})

export const cancelMove = define({
  id: 'cancelMove',
  ...common,
  summary: 'Cancel the move of an account',
  description: 'Before the switch. The account stays where it is, and what was copied is deleted.',
  reply,
  problems: ['account-not-found', 'move-not-found', 'move-switched'],
})
