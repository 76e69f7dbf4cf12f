import { openCell, openDirectory } from '../db/open.ts'
import { minAccountNumber } from '../domain/account/account.ts'
import { MAX_SANDBOXES } from '../domain/sandbox/sandbox.ts'
import { fold } from '../domain/text/fold.ts'
import { cellNumbers, readNumber } from '../env.ts'
import type { Context } from '../http/context.ts'
import { invalid, Problem, requireOk } from '../http/contract/problem.ts'
import { findSandboxes } from '../sandbox/store.ts'
import { addToDirectory, type DirectoryEntry, readHighestNumber } from './store.ts'

export interface Reservation {
  id: string
  userName: string
  cell?: number | undefined
  /** Of a sandbox, the account that opens it. */
  sandboxOf?: string | undefined
}

/** Takes a user name, a number and a cell for a new account. */
export const reserveEntry = async (
  c: Context,
  { id, userName, cell, sandboxOf }: Reservation,
): Promise<DirectoryEntry> => {
  const bound = cellNumbers(c.env)
  if (cell !== undefined && !bound.includes(cell))
    throw invalid({ pointer: '/cell', detail: 'is not a cell of this service' })
  const directory = openDirectory(c.env)
  // Before every cell is read. The statement that adds the entry decides.
  if (sandboxOf !== undefined) {
    const others = (await findSandboxes(directory, sandboxOf)).filter((one) => one.id !== id)
    if (others.length >= MAX_SANDBOXES) throw new Problem('sandbox-limit-reached')
  }
  const now = Date.now()
  const highest = await Promise.all(
    bound.map((number) => readHighestNumber(openCell(c.env, number))),
  )
  const outcome = await addToDirectory(directory, {
    accountId: id,
    userNameKey: fold(userName),
    cells: cell === undefined ? bound : [cell],
    maxCellBytes: readNumber(c.env, 'CELL_MAX_BYTES'),
    sandboxOf,
    minNumber: Math.max(minAccountNumber(now), ...highest.map((number) => number + 1)),
    now,
  })
  return requireOk(outcome).entry
}
