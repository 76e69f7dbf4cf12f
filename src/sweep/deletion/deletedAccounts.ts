import { and, asc, lte } from 'drizzle-orm'
import { isHere } from '../../db/movedCell.ts'
import { accounts } from '../../db/schema.ts'
import { UNDELETE_ACCOUNT_DAYS } from '../../domain/admin/status.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { type CellRun, runPart } from '../run.ts'

const UNDELETE_MS = UNDELETE_ACCOUNT_DAYS * 86_400_000
const MAX_ACCOUNTS = 10
export const MAX_DELETED_QUERIES = 1
const WRITER = {
  actor: { type: 'system', id: 'sweep', name: null },
  requestId: 'sweep',
  address: null,
} as const

/** Erases accounts that were deleted so long ago that nobody can bring them back. */
export const eraseDeleted = async ({ env, cell, db, now, take }: CellRun): Promise<void> => {
  if (!take()) return
  const until = now - UNDELETE_MS
  const due = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(lte(accounts.deletedAt, until), isHere(accounts.id)))
    .orderBy(asc(accounts.deletedAt))
    .limit(MAX_ACCOUNTS)
  for (const { id: account } of due)
    await runPart('deleted-accounts', { cell, account }, () =>
      ledgerOf(env, account).eraseIfDeleted(until, WRITER),
    )
}
