import { Hono } from 'hono'
import { findInDirectory, listDirectory, readSearched } from '../admin/store.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { fold } from '../domain/text/fold.ts'
import { cellNumbers, type Env } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { replyList } from '../http/paging/list.ts'
import * as contract from './contract.ts'
import { type OperatedRow, presentEntry, presentOperatedEntry } from './present.ts'
import { type AuditQuery, listAudit } from './store.ts'

export const accountAudit = new Hono<AppEnv>().get('/', operation(contract.listAudit), (c) => {
  const { cursor, ...query } = c.req.valid('query')
  const { accountId } = c.get('principal')
  return replyList(c, contract.listAudit, c.req.valid('query'), {
    readPage: ([before = '']) =>
      listAudit(c.get('db'), { ...query, accountId, before: String(before) }),
    toBody: (rows) => ({ entries: rows.map(presentEntry) }),
  })
})

/** A page of a cell, with the names that its accounts have today. */
const listOfCell = async (
  env: Env,
  cell: number,
  query: AuditQuery,
): Promise<Page<OperatedRow>> => {
  const db = withRetries(openCell(env, cell))
  const { rows, next } = await listAudit(db, query)
  const found = await readSearched(db, [...new Set(rows.map(({ accountId }) => accountId))])
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return {
    rows: rows.map((row) => ({ ...row, accountName: names.get(row.accountId) ?? null })),
    next,
  }
}

/** A page of each cell, merged. It ends where the page of the first cell to end early does. */
const listOfCells = async (env: Env, query: AuditQuery): Promise<Page<OperatedRow>> => {
  const pages = await Promise.all(cellNumbers(env).map((cell) => listOfCell(env, cell, query)))
  const ends = pages.flatMap(({ next }) => (next ? [String(next[0])] : []))
  const end = ends.sort().at(-1) ?? ''
  // While an account moves, two cells have its entries.
  const rows = [...new Map(pages.flatMap((page) => page.rows).map((row) => [row.id, row])).values()]
    .filter(({ id }) => id >= end)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  return toPage(rows, query.limit, byId, end === '' ? undefined : { id: end })
}

/** An account that was erased has entries and no place in the directory. */
const findAccount = async (env: Env, given: string) => {
  const directory = withRetries(openDirectory(env))
  if (given.startsWith('acc_'))
    return (await findInDirectory(directory, given)) ?? { accountId: given, cell: null }
  const [entry] = await listDirectory(directory, { after: 0, limit: 1, userNameKey: fold(given) })
  return entry
}

export const operatorAudit = new Hono<AppEnv>().get('/', operation(contract.listAllAudit), (c) => {
  const { cursor, account, ...query } = c.req.valid('query')
  return replyList(c, contract.listAllAudit, c.req.valid('query'), {
    readPage: async ([before = '']) => {
      const listing = { ...query, accountId: null, before: String(before) }
      if (account === undefined) return listOfCells(c.env, listing)
      const entry = await findAccount(c.env, account)
      if (!entry) return { rows: [], next: null }
      const { accountId, cell } = entry
      return cell === null
        ? listOfCells(c.env, { ...listing, accountId })
        : listOfCell(c.env, cell, { ...listing, accountId })
    },
    toBody: (rows) => ({ entries: rows.map(presentOperatedEntry) }),
  })
})
