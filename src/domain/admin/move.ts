/* An account that moves to another cell. `src/move/` has the steps. */

export const MOVE_STEPS = [
  'copying',
  'catchingUp',
  'verifying',
  'erasing',
  'done',
  'cancelling',
  'cancelled',
] as const
export type MoveStep = (typeof MOVE_STEPS)[number]

/** Nothing is left to do. */
export const isMoveOver = (step: MoveStep): boolean => step === 'done' || step === 'cancelled'

export interface MovePosition {
  /** The table that is being worked on, and the last key that is finished. */
  table: number
  after: (string | number)[] | null
  /** Rows that were copied, those that changed meanwhile, and those that were compared. */
  copied: number
  caughtUp: number
  verified: number
  /** Rows that were found different after the switch, and corrected. */
  corrected: number
  erased: number
  /** For how long writes were refused, and when the account was switched. */
  frozenMs: number | null
  switchedAt: number | null
}

export const START: MovePosition = {
  table: 0,
  after: null,
  copied: 0,
  caughtUp: 0,
  verified: 0,
  corrected: 0,
  erased: 0,
  frozenMs: null,
  switchedAt: null,
}

/**
 * What a cell knows of an account that moves.
 * - `copying`: it is here and its changes are recorded, to be copied too.
 * - `frozen`: the same, and writes are refused until the freeze ends.
 * - `moved`: it is in the other cell. Its rows are still here and writes are refused.
 * - `left`: its rows are being deleted, or are gone.
 * - `arriving`: its rows are being copied to here.
 * - `landing`: they are complete. It is here once the other cell says `moved`.
 * - `arrived`: it is here and its changes are recorded, so that the copy can be verified.
 */
export type MoveState = 'copying' | 'frozen' | 'moved' | 'left' | 'arriving' | 'landing' | 'arrived'
