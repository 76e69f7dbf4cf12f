import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { eraseAgain, holdsAccount, listCell } from './store.ts'

const MOST_PAGES = 100
const MOST_ACCOUNTS = 100

export const nothingMended = () => ({ account: 0, devices: 0, removed: 0, usage: 0, directory: 0, events: 0, erased: 0 })
export type Mended = ReturnType<typeof nothingMended>

const add = (to: Mended, more: Partial<Mended>): void => {
  for (const name of Object.keys(more) as (keyof Mended)[]) to[name] += more[name] ?? 0
}

export interface Progress {
  checked: number
  mended: Mended
  pages: number
}

/** Holds one account against its ledger from a device key on. Null once through, else where to go on. */
const throughAccount = async (
  env: Env,
  id: string,
  from: number,
  restored: boolean,
  progress: Progress,
): Promise<number | null | 'erased' | 'unknown' | 'name taken'> => {
  for (let after = from; ; progress.pages++) {
    if (progress.pages >= MOST_PAGES) return after
    const page = await ledgerOf(env, id).reconcile(after, restored)
    if (!page.ok && page.refusal === 'user-name-taken') return 'name taken'
    if (!page.ok) return page.erased ? 'erased' : 'unknown'
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
): Promise<(Progress & { next: number | null }) | 'unknown' | 'name taken'> => {
  const progress: Progress = { checked: 0, mended: nothingMended(), pages: 0 }
  const through = await throughAccount(env, id, from, restored, progress)
  if (through === 'unknown' || through === 'name taken') return through
  if (through !== 'erased') return { ...progress, next: through }
  let erased = 0
  for (const cell of cellNumbers(env)) {
    const db = openCell(env, cell)
    if ((await holdsAccount(db, id)) && (await eraseAgain(openDirectory(env), db, id, cell, Date.now()))) erased++
  }
  add(progress.mended, { erased })
  return erased > 0 ? { ...progress, next: null } : 'unknown'
}

export const reconcileCell = async (env: Env, cell: number, from: [number, number], restored: boolean) => {
  const directory = openDirectory(env)
  const db = openCell(env, cell)
  const progress: Progress = { checked: 0, mended: nothingMended(), pages: 0 }
  const unknown: string[] = []
  const [firstNumber, firstKey] = from
  const entries = await listCell(directory, db, cell, firstNumber - (firstKey > 0 ? 1 : 0), MOST_ACCOUNTS)
  let accounts = 0
  for (const { number, id } of entries) {
    const through = await throughAccount(env, id, number === firstNumber ? firstKey : 0, restored, progress)
    if (typeof through === 'number') return { ...progress, accounts, unknown, next: [number, through] }
    accounts++
    if (through === 'unknown' || through === 'name taken') unknown.push(id)
    if (through === 'erased' && (await eraseAgain(directory, db, id, cell, Date.now()))) add(progress.mended, { erased: 1 })
  }
  const last = entries.at(-1)
  return { ...progress, accounts, unknown, next: entries.length === MOST_ACCOUNTS && last ? [last.number, 0] : null }
}
