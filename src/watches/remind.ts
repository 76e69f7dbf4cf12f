import type { Watch } from '../domain/watch/watch.ts'
import type { Env } from '../env.ts'

/** The part of the sweep that reminds. */
export interface Reminding {
  env: Env
  cell: number
  now: number
}

/** Reminds the device of a watch that a check-in is due, where the device has a channel. */
export const remindDevice = async (_run: Reminding, _watch: Watch): Promise<void> => {}
