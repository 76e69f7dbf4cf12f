import { Hono } from 'hono'
import { openCell, openDirectory, withRetries, withWriter } from '../db/open.ts'
import type { Position } from '../db/page.ts'
import { NO_ACCOUNT, recordAudit } from '../db/queries/audit.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import { cellNumbers } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { makeCursor, readCursor } from '../http/paging/page.ts'
import { reply } from '../http/reply/reply.ts'
import { writerOf } from '../http/writer.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type CellPosition, reconcileAccount, reconcileCell } from './reconcile.ts'
import * as contract from './recoveryContract.ts'
import { findInDirectory } from './store.ts'

const MAX_RESTARTS = 3

/** These cursors come in the body, not in the query. */
const readBodyCursor = (c: Context, cursor: string | undefined): Promise<Position | null> =>
  readCursor(c, cursor, undefined, '/cursor')

/** In the cell of the account, or in cell 0 when the directory does not know it. */
const recordRecovery = async (c: Context, id: string, action: string, changes: object) => {
  const entry = await findInDirectory(withRetries(openDirectory(c.env)), id)
  await recordAudit(withWriter(openCell(c.env, entry?.cell ?? 0), writerOf(c)), {
    accountId: id,
    now: Date.now(),
    action,
    resource: { type: 'account', id },
    changes: changesBetween(null, changes),
  })
}

export const recovery = new Hono<AppEnv>()
  .post('/accounts/:accountId/restore', operation(contract.restoreLedger), async (c) => {
    const { time, undo } = c.req.valid('json')
    const accountId = c.req.param('accountId')
    const { handover, undo: previous } = requireOk(
      await ledgerOf(c.env, accountId).scheduleRestore(undo ?? time ?? 0),
    )
    const changes = { time: time ?? null, undo: undo !== undefined }
    await recordRecovery(c, accountId, 'account.restored', changes)
    // The first call ends the object and fails; a later one reaches the object that replaces it.
    for (let call = 0; call < MAX_RESTARTS; call++) {
      const isRestarted = await ledgerOf(c.env, accountId)
        .restart(handover)
        .catch(() => false)
      if (isRestarted) return reply(c, contract.restoreLedger, { success: true, undo: previous })
    }
    throw new Problem('unavailable')
  })
  .post('/accounts/:accountId/reconcile', operation(contract.reconcileAccount), async (c) => {
    const { cursor, restored } = c.req.valid('json')
    const [after = 0] = (await readBodyCursor(c, cursor)) ?? []
    const start = { id: c.req.param('accountId'), after: Number(after), restored }
    const { checked, corrected, next } = requireOk(await reconcileAccount(c.env, start))
    await recordRecovery(c, start.id, 'account.reconciled', { checked, corrected, restored })
    const nextCursor = next === null ? null : await makeCursor(c, [next])
    return reply(c, contract.reconcileAccount, {
      success: true,
      checked,
      mended: corrected,
      nextCursor,
    })
  })
  .post('/cells/:cell/reconcile', operation(contract.reconcileCell), async (c) => {
    const { cursor, restored } = c.req.valid('json')
    const cell = cellNumbers(c.env).find((number) => String(number) === c.req.param('cell'))
    if (cell === undefined) throw new Problem('cell-not-found')
    const from = ((await readBodyCursor(c, cursor)) ?? [0, '', 0]) as CellPosition
    const { next, corrected, ...counts } = await reconcileCell(c.env, { cell, from, restored })
    await recordAudit(withWriter(openDirectory(c.env), writerOf(c)), {
      accountId: NO_ACCOUNT,
      now: Date.now(),
      action: 'cell.reconciled',
      resource: { type: 'cell', id: String(cell) },
      changes: changesBetween(null, { ...counts, corrected, restored }),
    })
    const nextCursor = next && (await makeCursor(c, next))
    return reply(c, contract.reconcileCell, {
      success: true,
      ...counts,
      mended: corrected,
      nextCursor,
    })
  })
