import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { listSourcesAgain } from '../sources/directory.ts'
import { eraseAgain, findInDirectory, hasAccount, listCell } from './store.ts'

/* Compares cells with their ledgers, a bounded number of pages per request. */

const MAX_PAGES = 100
const MAX_ACCOUNTS = 100

/** How many rows were corrected, by kind. */
const noCorrections = () => ({
  account: 0,
  devices: 0,
  removed: 0,
  usage: 0,
  directory: 0,
  events: 0,
  erased: 0,
})
type Corrections = ReturnType<typeof noCorrections>

const addCorrections = (to: Corrections, more: Partial<Corrections>): void => {
  for (const name of Object.keys(more) as (keyof Corrections)[]) to[name] += more[name] ?? 0
}

interface Progress {
  checked: number
  corrected: Corrections
  pages: number
}

const noProgress = (): Progress => ({ checked: 0, corrected: noCorrections(), pages: 0 })

/** Why an account is skipped: it has no ledger, or another account has its user name or number. */
type Skipped = 'account-not-found' | 'user-name-taken' | 'account-number-taken'

type AccountResult =
  | { kind: 'done' }
  | { kind: 'erased' }
  | { kind: 'skipped'; reason: Skipped }
  /** The page limit was reached; `after` is the device key to continue after. */
  | { kind: 'paused'; after: number }

interface AccountStart {
  id: string
  /** The device key to start after. */
  after: number
  restored: boolean
}

const checkAccount = async (
  env: Env,
  { id, after: start, restored }: AccountStart,
  progress: Progress,
): Promise<AccountResult> => {
  for (let after = start; ; progress.pages++) {
    if (progress.pages >= MAX_PAGES) return { kind: 'paused', after }
    const page = await ledgerOf(env, id).reconcilePage(after, restored)
    if (!page.ok) {
      const isErased = page.refusal === 'account-not-found' && page.erased
      return isErased ? { kind: 'erased' } : { kind: 'skipped', reason: page.refusal }
    }
    progress.checked += page.checked
    addCorrections(progress.corrected, page.corrected)
    if (page.next === null) break
    after = page.next
  }
  addCorrections(progress.corrected, { directory: await correctSourceDirectory(env, id) })
  return { kind: 'done' }
}

/** A restored directory may lack sources, whose providers would get 404. */
const correctSourceDirectory = async (env: Env, accountId: string): Promise<number> => {
  const directory = openDirectory(env)
  const listed = await findInDirectory(directory, accountId)
  if (!listed) return 0
  const { cell } = listed
  return listSourcesAgain(directory, openCell(env, cell), { accountId, cell })
}

export type ReconcileOutcome =
  | { ok: true; checked: number; corrected: Corrections; next: number | null }
  | { ok: false; refusal: Skipped }

export const reconcileAccount = async (
  env: Env,
  start: AccountStart,
): Promise<ReconcileOutcome> => {
  const progress = noProgress()
  const result = await checkAccount(env, start, progress)
  if (result.kind === 'skipped') return { ok: false, refusal: result.reason }
  const { checked, corrected } = progress
  if (result.kind === 'erased') {
    corrected.erased = await eraseEverywhere(env, start.id)
    if (corrected.erased === 0) return { ok: false, refusal: 'account-not-found' }
  }
  return { ok: true, checked, corrected, next: result.kind === 'paused' ? result.after : null }
}

/** Deletes an erased account from every cell that has it again. Returns the number of cells. */
const eraseEverywhere = async (env: Env, accountId: string): Promise<number> => {
  const directory = openDirectory(env)
  const listed = await findInDirectory(directory, accountId)
  let erased = 0
  for (const cell of cellNumbers(env)) {
    const db = openCell(env, cell)
    const isBack = listed?.cell === cell || (await hasAccount(db, accountId))
    if (isBack && (await eraseAgain(directory, db, { accountId, cell, now: Date.now() }))) erased++
  }
  return erased
}

/** Where a run through a cell continues: with this account, after this device key. */
export type CellPosition = [number: number, id: string, key: number]

interface CellStart {
  cell: number
  from: CellPosition
  restored: boolean
}

export const reconcileCell = async (env: Env, { cell, from, restored }: CellStart) => {
  const directory = openDirectory(env)
  const db = openCell(env, cell)
  const progress = noProgress()
  const unknown: string[] = []
  const [firstNumber, firstId, firstKey] = from
  const entries = await listCell(directory, db, {
    cell,
    from: [firstNumber, firstId],
    limit: MAX_ACCOUNTS + 1,
  })
  let accounts = 0
  const pausedAt = (position: CellPosition | null) => {
    const { checked, corrected } = progress
    return { accounts, checked, corrected, unknown, next: position }
  }
  for (const { number, id } of entries.slice(0, MAX_ACCOUNTS)) {
    const start = { id, after: id === firstId ? firstKey : 0, restored }
    const result = await checkAccount(env, start, progress)
    if (result.kind === 'paused') return pausedAt([number, id, result.after])
    accounts++
    if (result.kind === 'skipped') unknown.push(id)
    if (result.kind === 'erased') {
      const again = { accountId: id, cell, now: Date.now() }
      if (await eraseAgain(directory, db, again)) progress.corrected.erased++
    }
  }
  const next = entries[MAX_ACCOUNTS]
  return pausedAt(next ? [next.number, next.id, 0] : null)
}
