import { findInDirectory } from '../admin/store.ts'
import { MOVED_TABLES, type MovedTable } from '../db/accountTables.ts'
import { findMoved, land } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { accounts, accountUsage } from '../db/schema.ts'
import type { MovePosition } from '../domain/admin/move.ts'
import type { Env } from '../env.ts'
import { feedOf } from '../feed/stub.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log } from '../log.ts'
import * as rows from './rows.ts'
import * as store from './store.ts'

/* The steps of a move. Each may be interrupted anywhere and begins again where it was saved. */

export interface Mover {
  env: Env
  move: store.Move
  account: rows.Owner
  from: Database
  to: Database
  position: MovePosition
  directory: Database
  /** Whether there is time left in this run, and so many queries. */
  mayGoOn: (queries?: number) => boolean
  hasQueries: (queries: number) => boolean
  /** Saves the position. */
  save: () => Promise<void>
}

const targetOf = ({ move, to }: Mover): rows.Target => ({
  db: to,
  accountId: move.accountId,
  lease: move.lease,
})

/**
 * The account's own row and the count of its bytes, which triggers change with every row, come last.
 * Without its row the sweep of the new cell does not see the account.
 */
const isLate = ({ table }: MovedTable): boolean => table === accounts || table === accountUsage
const LATE_TABLES = MOVED_TABLES.filter(isLate).sort((a) => (a.table === accounts ? -1 : 1))
const PAGES_PER_SAVE = 10

/** Goes through all tables page by page, from the position on. False when the time is over. */
const eachPage = async (
  mover: Mover,
  tables: MovedTable[],
  work: (moved: MovedTable) => Promise<{ last: rows.Value[] | null; isLast: boolean }>,
): Promise<boolean> => {
  const { position } = mover
  for (let pages = 1; position.table < tables.length; pages++) {
    if (!mover.mayGoOn()) return false
    const { last, isLast } = await work(tables[position.table] as MovedTable)
    position.after = isLast ? null : (last as MovePosition['after'])
    if (isLast) position.table++
    if (pages % PAGES_PER_SAVE === 0) await mover.save()
  }
  Object.assign(position, { table: 0, after: null })
  return true
}

/** Copies everything while the account runs. The cell records what changes meanwhile. */
export const copy = async (mover: Mover): Promise<boolean> => {
  const { move, account, from, to, position } = mover
  const { accountId, lease, fromCell, toCell } = move
  const entry = { ...account, lease, now: Date.now() }
  await store.enter(to, { ...entry, cell: fromCell, state: 'arriving' })
  await store.enter(from, { ...entry, cell: toCell, state: 'copying' })
  if ((await findMoved(from, accountId))?.state === 'moved') return true
  const early = MOVED_TABLES.filter((moved) => !isLate(moved))
  return eachPage(mover, early, async (moved) => {
    const place = { account, after: position.after, order: moved.order }
    const page = await rows.readPage(from, moved, place)
    await rows.writeRows(targetOf(mover), moved, page.rows)
    position.copied += page.rows.length
    return page
  })
}

const MAX_CHANGES = 100
/** How many tables the changes may be of that are copied together. */
const MAX_TABLES = 12
const CHANGE_QUERIES = 2 + 3 * MAX_TABLES
/** The freeze, two rounds of changes, the tables that come last, the switch and its announcement. */
const SWITCH_QUERIES = 2 * CHANGE_QUERIES + 30

/** Copies the rows that changed first. Returns how many changes were recorded. */
const applyChanges = async (mover: Mover): Promise<number> => {
  const { account, from, position } = mover
  const read = await store.readChanges(from, account.accountId, MAX_CHANGES)
  const tables = [...new Set(read.map(({ name }) => name))].slice(0, MAX_TABLES)
  const beyond = read.findIndex(({ name }) => !tables.includes(name))
  const changes = beyond < 0 ? read : read.slice(0, beyond)
  const last = changes.at(-1)
  if (!last) return 0
  const target = targetOf(mover)
  for (const [name, own] of Map.groupBy(changes, (change) => change.name)) {
    const moved = MOVED_TABLES.find((table) => table.name === name)
    if (!moved || isLate(moved)) continue
    const keys = [...new Set(own.map(({ key }) => key))]
    const found = await rows.readByKeys(
      from,
      moved,
      keys.map((key) => JSON.parse(key)),
    )
    const existing = new Set(found.map((row) => rows.keyText(moved, row)))
    const gone = keys.filter((key) => !existing.has(key)).map((key) => JSON.parse(key))
    await rows.deleteByKeys(target, moved, gone)
    await rows.writeRows(target, moved, found)
    position.caughtUp += keys.length
  }
  // A row that changes again meanwhile is recorded again, under a greater number.
  await store.deleteChanges(from, account.accountId, last.number)
  return read.length
}

const MAX_ROUNDS = 50

/** Until few changes are left, so that the freeze is short. */
export const catchUp = async (mover: Mover): Promise<boolean> => {
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    if (!mover.mayGoOn(CHANGE_QUERIES)) return false
    if ((await applyChanges(mover)) < MAX_CHANGES / 2) return true
  }
  return true
}

/** A freeze ends by itself after this long, whatever happens to this run. */
export const FREEZE_MS = 8_000
const GIVE_UP_MS = 5_000

/**
 * Refuses writes, copies what is left, and switches: one statement in the old cell decides, while
 * the freeze lasts by that cell's own clock. False when it took too long; nothing has changed then.
 */
export const switchOver = async (mover: Mover): Promise<boolean> => {
  const { account, from, to, position } = mover
  const { accountId } = account
  const { lease } = mover.move
  if ((await findMoved(from, accountId))?.state === 'moved') return true
  // A run that could not end the freeze does not begin it.
  if (!mover.mayGoOn(SWITCH_QUERIES)) return false
  const change = { accountId, lease }
  const startedAt = Date.now()
  const freeze = { from: ['copying' as const, 'frozen' as const], to: 'frozen' as const }
  if (!(await store.changeState(from, { ...change, ...freeze, freezeMs: FREEZE_MS }))) return false
  const unfreeze = async () => {
    await store.changeState(from, { ...change, from: ['frozen'], to: 'copying' })
    return false
  }
  while ((await applyChanges(mover)) > 0)
    if (Date.now() - startedAt > GIVE_UP_MS || !mover.hasQueries(CHANGE_QUERIES + 30))
      return unfreeze()
  for (const moved of LATE_TABLES) {
    const place = { account, after: null, order: moved.order }
    await rows.writeRows(targetOf(mover), moved, (await rows.readPage(from, moved, place)).rows)
  }
  await store.deleteChanges(to, accountId)
  const canLand = await store.changeState(to, { ...change, from: ['arriving'], to: 'landing' })
  const isSwitched =
    canLand &&
    (await store.changeState(from, {
      ...change,
      from: ['frozen'],
      to: 'moved',
      whileFrozen: true,
    }))
  if (!isSwitched) {
    await store.changeState(to, { ...change, from: ['landing'], to: 'arriving' })
    return unfreeze()
  }
  position.frozenMs = Date.now() - startedAt
  return true
}

/**
 * Everybody else follows the old cell's row; this makes sure that they know before it is needed. The
 * ledger repeats what it could not write to the directory.
 */
export const announce = async ({ env, move, to, position }: Mover): Promise<void> => {
  const { accountId, toCell } = move
  await land(to, accountId)
  await ledgerOf(env, accountId).moveTo(toCell)
  await feedOf(env, accountId).moveTo({ accountId, cell: toCell })
  position.switchedAt ??= Date.now()
}

/** Whether the directory names the new cell, or no longer has the account. */
export const isAnnounced = async ({ directory, move }: Mover): Promise<boolean> => {
  const listed = await findInDirectory(directory, move.accountId)
  return !listed || listed.cell === move.toCell
}

/**
 * Compares what the old cell has with the new one, except for rows that were written there since. A
 * row that differs is corrected, which no run of the tests has ever needed.
 */
export const verify = async (mover: Mover): Promise<boolean> => {
  const { account, from, position } = mover
  const { accountId } = account
  const target = targetOf(mover)
  const verified = MOVED_TABLES.filter(({ table }) => table !== accountUsage)
  return eachPage(mover, verified, async (moved) => {
    const isInOrder = moved.order.every((column) => moved.columns.includes(column))
    const order = isInOrder ? moved.order : moved.key
    const { after } = position
    const page = await rows.readPage(from, moved, { account, after, order })
    const upTo = page.isLast ? null : page.last
    const copies = await rows.readUnchanged(target, moved, { account, order, after, upTo })
    const textOf = (row: rows.Row) => JSON.stringify(moved.columns.map(({ name }) => row[name]))
    const byKey = new Map(copies.map((row) => [rows.keyText(moved, row), row]))
    const different = page.rows.filter((row) => {
      const found = byKey.get(rows.keyText(moved, row))
      byKey.delete(rows.keyText(moved, row))
      return !found || textOf(found) !== textOf(row)
    })
    const keys = [...different.map((row) => rows.keyText(moved, row)), ...byKey.keys()]
    position.verified += page.rows.length
    if (keys.length === 0) return page
    const { name } = moved
    const changed = await store.findChanged(target.db, { accountId, name, keys })
    const wrong = different.filter((row) => !changed.has(rows.keyText(moved, row)))
    const extra = [...byKey].flatMap(([key, row]) =>
      changed.has(key) ? [] : [rows.keyOf(moved, row)],
    )
    const count = wrong.length + extra.length
    if (count === 0) return page
    log('warn', { event: 'move-corrected', account: accountId, table: name, rows: count })
    await rows.deleteByKeys(target, moved, extra, { unlessChanged: true })
    await rows.writeRows(target, moved, wrong, { unlessChanged: true })
    position.corrected += count
    return page
  })
}
