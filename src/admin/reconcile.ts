import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { eraseAgain, findInDirectory, holdsAccount, listCell } from './store.ts'

const MAX_PAGES = 100
const MAX_ACCOUNTS = 100

export const nothingMended = () => ({
  account: 0,
  devices: 0,
  removed: 0,
  usage: 0,
  directory: 0,
  events: 0,
  erased: 0,
})
export type Mended = ReturnType<typeof nothingMended>

const add = (to: Mended, more: Partial<Mended>): void => {
  for (const name of Object.keys(more) as (keyof Mended)[]) to[name] += more[name] ?? 0
}

export interface Progress {
  checked: number
  mended: Mended
  pages: number
}

/** Why an account is left as it is: no ledger knows it, or another account has come by its user name or number. */
type LeftAlone = 'not-found' | 'user-name-taken' | 'account-number-taken'

const isLeft = (through: unknown): through is LeftAlone =>
  typeof through === 'string' && through !== 'erased'

/** Holds one account against its ledger from a device key on. Null once through, else where to go on. */
const throughAccount = async (
  env: Env,
  id: string,
  from: number,
  restored: boolean,
  progress: Progress,
): Promise<number | null | 'erased' | LeftAlone> => {
  for (let after = from; ; progress.pages++) {
    if (progress.pages >= MAX_PAGES) return after
    const page = await ledgerOf(env, id).reconcile(after, restored)
    if (!page.ok)
      return page.refusal !== 'not-found' ? page.refusal : page.erased ? 'erased' : 'not-found'
    progress.checked += page.checked
    add(progress.mended, page.mended)
    if (page.next === null) return null
    after = page.next
  }
}

export const reconcileAccount = async (
  env: Env,
  id: string,
  from: number,
  restored: boolean,
): Promise<(Progress & { next: number | null }) | LeftAlone> => {
  const progress: Progress = { checked: 0, mended: nothingMended(), pages: 0 }
  const through = await throughAccount(env, id, from, restored, progress)
  if (isLeft(through)) return through
  if (through !== 'erased') return { ...progress, next: through }
  const directory = openDirectory(env)
  const listed = await findInDirectory(directory, id)
  let erased = 0
  for (const cell of cellNumbers(env)) {
    const db = openCell(env, cell)
    const isBack = listed?.cell === cell || (await holdsAccount(db, id))
    if (isBack && (await eraseAgain(directory, db, id, cell, Date.now()))) erased++
  }
  add(progress.mended, { erased })
  return erased > 0 ? { ...progress, next: null } : 'not-found'
}

/** Where a walk through a cell goes on: with this account, after this device key. */
export type CellPosition = [number: number, id: string, key: number]

export const reconcileCell = async (
  env: Env,
  cell: number,
  from: CellPosition,
  restored: boolean,
) => {
  const directory = openDirectory(env)
  const db = openCell(env, cell)
  const progress: Progress = { checked: 0, mended: nothingMended(), pages: 0 }
  const unknown: string[] = []
  const [firstNumber, firstId, firstKey] = from
  const entries = await listCell(directory, db, cell, [firstNumber, firstId], MAX_ACCOUNTS + 1)
  let accounts = 0
  for (const { number, id } of entries.slice(0, MAX_ACCOUNTS)) {
    const through = await throughAccount(env, id, id === firstId ? firstKey : 0, restored, progress)
    if (typeof through === 'number')
      return { ...progress, accounts, unknown, next: [number, id, through] }
    accounts++
    if (isLeft(through)) unknown.push(id)
    if (through === 'erased' && (await eraseAgain(directory, db, id, cell, Date.now())))
      add(progress.mended, { erased: 1 })
  }
  const next = entries[MAX_ACCOUNTS]
  return { ...progress, accounts, unknown, next: next ? [next.number, next.id, 0] : null }
}
