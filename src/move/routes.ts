import { Hono } from 'hono'
import { findInDirectory } from '../admin/store.ts'
import { resolveCell } from '../db/movedCell.ts'
import { openCell, openDirectory, withRetries, withWriter } from '../db/open.ts'
import { fullCellBytes } from '../domain/account/cell.ts'
import { cellNumbers, readNumber } from '../env.ts'
import { feedOf } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { writerOf } from '../http/writer.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { presentMove } from './present.ts'
import { runMove } from './run.ts'
import * as store from './store.ts'

const findRequested = async (c: Context) => {
  const directory = withRetries(openDirectory(c.env))
  const entry = await findInDirectory(directory, c.req.param('accountId') ?? '')
  if (!entry) throw new Problem('account-not-found')
  return entry
}

const requireMove = async (c: Context, accountId: string): Promise<store.Move> => {
  const found = await store.findMove(withRetries(openDirectory(c.env)), accountId)
  if (!found) throw new Problem('move-not-found')
  return found
}

const present = async (c: Context, accountId: string) => ({
  success: true as const,
  move: presentMove(await requireMove(c, accountId)),
})

/** The cell in the body, if the account can move there. */
const requireCell = async (c: Context, toCell: number, fromCell: number): Promise<void> => {
  const refuse = (detail: string) => invalid({ pointer: '/cell', detail })
  if (!cellNumbers(c.env).includes(toCell)) throw refuse('is not a cell of this service')
  if (toCell === fromCell) throw refuse('is the cell that the account is in')
  const size = await store.readCellSize(openDirectory(c.env), toCell)
  if (size >= fullCellBytes(readNumber(c.env, 'CELL_MAX_BYTES'))) throw new Problem('cells-full')
}

/** Objects of the release before could not follow the account. The feed is given its own cell. */
const requireUpgraded = async ({ env }: Context, accountId: string, cell: number) => {
  await ledgerOf(env, accountId).readSchemaVersion()
  await feedOf(env, accountId).moveTo({ accountId, cell: await resolveCell(env, accountId, cell) })
}

export const moves = new Hono<AppEnv>()
  .post('/accounts/:accountId/move', operation(contract.moveAccount), async (c) => {
    const { accountId, cell: fromCell } = await findRequested(c)
    const { cell: toCell } = c.req.valid('json')
    await requireCell(c, toCell, fromCell)
    await requireUpgraded(c, accountId, fromCell)
    const directory = withWriter(openDirectory(c.env), writerOf(c))
    const now = Date.now()
    if (!(await store.startMove(directory, { accountId, fromCell, toCell, now })))
      throw new Problem('move-running')
    const body = await present(c, accountId)
    c.executionCtx.waitUntil(runMove(c.env, accountId))
    return reply(c, contract.moveAccount, body)
  })
  .get('/accounts/:accountId/move', operation(contract.readMove), async (c) => {
    const { accountId } = await findRequested(c)
    return reply(c, contract.readMove, await present(c, accountId))
  })
  .delete('/accounts/:accountId/move', operation(contract.cancelMove), async (c) => {
    const { accountId } = await findRequested(c)
    const { step, fromCell } = await requireMove(c, accountId)
    if (step === 'copying' || step === 'catchingUp') {
      // The old cell decides: a switch that came first has happened.
      if (!(await store.leaveUnmoved(openCell(c.env, fromCell), accountId)))
        throw new Problem('move-switched')
      const directory = withWriter(openDirectory(c.env), writerOf(c))
      await store.cancelMove(directory, accountId, Date.now())
      c.executionCtx.waitUntil(runMove(c.env, accountId))
    } else if (step !== 'cancelling' && step !== 'cancelled') throw new Problem('move-switched')
    return reply(c, contract.cancelMove, await present(c, accountId))
  })
