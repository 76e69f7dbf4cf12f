import {
  type ContactRow,
  type MarkChange,
  readContactedDevices,
  splitMarks,
  writeMarks,
} from '../../db/queries/rules/silence.ts'
import { deviceKey, keysBeside } from '../../domain/account/device.ts'
import { currentDay, hasEnded } from '../../domain/account/license.ts'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import { evaluateContact } from '../../domain/rule/silence.ts'
import { publicOrigin } from '../../env.ts'
import { handOver } from '../pendingRaises.ts'
import { type CellRun, readPosition, savePosition } from '../run.ts'
import { toReturn, toSilence } from './raises.ts'
import {
  isForAll,
  readWatchedAccounts,
  type WatchedAccount,
  type WatchedAccounts,
} from './watchedAccounts.ts'

/* Rules about contact. Reports pay nothing for them. */

const PART = 'silence'
const PAGE = 2000
const MAX_PAGES = 20
const MAX_CALLS = 50
/** How often rules are read in one run. */
const MAX_LISTS = 5
/** A part of what is found is two writes. */
const PART_QUERIES = 2
/** A page is two reads and, nearly always, at most two parts: what is silent and what returned. */
const PAGE_PARTS = 2
const PAGE_QUERIES = 2 + PAGE_PARTS * PART_QUERIES
/** The position and the new one, the rules, and the pages. */
export const MAX_SILENCE_QUERIES = 2 + MAX_LISTS + MAX_PAGES * PAGE_QUERIES

const evaluatePage = async (
  page: ContactRow[],
  watched: Map<string, WatchedAccount>,
  { origin, now }: { origin: string; now: number },
): Promise<{ silences: MarkChange[]; returns: MarkChange[] }> => {
  const silences: MarkChange[] = []
  const returns: MarkChange[] = []
  for (const device of page) {
    const account = watched.get(device.accountId)
    if (!account || hasEnded(device.ends, currentDay(account, now))) continue
    const { rules: own, timeZone } = account
    const found = evaluateContact(device, { rules: own, timeZone, now })
    for (const silence of found.silences) silences.push(await toSilence(silence, origin, now))
    for (const back of found.returns) returns.push(await toReturn(back, origin, now))
  }
  return { silences, returns }
}

const queryOf = ({ accounts }: WatchedAccounts) => {
  const all = accounts.flatMap(({ rules }) => rules)
  return {
    ranges: accounts.flatMap(({ number, rules }): [number, number][] =>
      rules.some(isForAll) ? [keysBeside(deviceKey(number, 0))] : [],
    ),
    deviceIds: [...new Set(all.flatMap(({ devices }) => devices))],
    groupIds: [...new Set(all.flatMap(({ groups }) => groups))],
    limit: PAGE,
  }
}

interface Progress {
  /** The key of the last device that was looked at. */
  after: number
  pages: number
}

/** Stores what was found and hands it over; false when the run may not store all of it. */
const settlePage = async (
  run: CellRun,
  found: Awaited<ReturnType<typeof evaluatePage>>,
): Promise<boolean> => {
  const parts = splitMarks(found)
  const toRaise: { accountId: string; raise: PendingRaise }[] = []
  let written = 0
  for (const part of parts) {
    if (written >= PAGE_PARTS && !run.take(PART_QUERIES)) break
    const stored = await writeMarks(run.db, part, run.now)
    for (const { accountId, raises } of part.changes)
      for (const raise of raises) if (stored.has(raise.alert.id)) toRaise.push({ accountId, raise })
    written++
  }
  // What is left over is raised by a later run.
  await handOver(run, PART, toRaise, MAX_CALLS)
  return written === parts.length
}

/** Looks at the devices of some accounts; false when the run may not look at all of them. */
const evaluateAccounts = async (
  run: CellRun,
  list: WatchedAccounts,
  progress: Progress,
): Promise<boolean> => {
  const { env, db, now, take } = run
  const watched = new Map(list.accounts.map((account) => [account.id, account]))
  const query = queryOf(list)
  const origin = publicOrigin(env) ?? ''
  for (; progress.pages < MAX_PAGES && take(PAGE_QUERIES); progress.pages++) {
    const page = await readContactedDevices(db, { ...query, after: progress.after })
    const found = await evaluatePage(page, watched, { origin, now })
    if (!(await settlePage(run, found))) return false
    if (page.length < PAGE) return true
    progress.after = page.at(-1)?.key ?? 0
  }
  return false
}

/**
 * Looks at the devices of rules about silence, page by page. A run that may not look at all of them
 * goes on in the next minute where it ended.
 */
export const findSilence = async (run: CellRun): Promise<void> => {
  const { db, take } = run
  if (!take(2)) return
  const start = await readPosition(db, PART)
  const progress: Progress = { after: start, pages: 0 }
  for (let lists = 0; lists < MAX_LISTS && take(1); lists++) {
    const list = await readWatchedAccounts(db, progress.after)
    const isDone = list.accounts.length === 0 || (await evaluateAccounts(run, list, progress))
    if (!isDone) break
    progress.after = list.lastKey
    if (list.lastKey === 0) break
  }
  const { after } = progress
  if (after !== start) await savePosition(db, PART, after)
}
