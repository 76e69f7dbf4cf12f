import { openCell, openDirectory } from '../db/open.ts'
import { minAccountNumber } from '../domain/account/account.ts'
import { fold } from '../domain/text/fold.ts'
import { cellNumbers, readNumber } from '../env.ts'
import type { Context } from '../http/context.ts'
import { invalid, requireOk } from '../http/contract/problem.ts'
import { addToDirectory, type DirectoryEntry, readHighestNumber } from './store.ts'

/** Takes a user name, a number and a cell for a new account. */
export const reserveEntry = async (
  c: Context,
  { id, userName, cell }: { id: string; userName: string; cell: number | undefined },
): Promise<DirectoryEntry> => {
  const bound = cellNumbers(c.env)
  if (cell !== undefined && !bound.includes(cell))
    throw invalid({ pointer: '/cell', detail: 'is not a cell of this service' })
  const now = Date.now()
  const highest = await Promise.all(
    bound.map((number) => readHighestNumber(openCell(c.env, number))),
  )
  const outcome = await addToDirectory(openDirectory(c.env), {
    accountId: id,
    userNameKey: fold(userName),
    cells: cell === undefined ? bound : [cell],
    maxCellBytes: readNumber(c.env, 'CELL_MAX_BYTES'),
    minNumber: Math.max(minAccountNumber(now), ...highest.map((number) => number + 1)),
    now,
  })
  return requireOk(outcome).entry
}
