import { Hono } from 'hono'
import { findInDirectory } from '../admin/store.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { cellNumbers, type Env } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { replyList } from '../http/paging/list.ts'
import * as contract from './contract.ts'
import { presentEntry, presentOperatedEntry } from './present.ts'
import { type AuditQuery, type AuditRow, listAudit } from './store.ts'

export const accountAudit = new Hono<AppEnv>().get('/', operation(contract.listAudit), (c) => {
  const { cursor, ...query } = c.req.valid('query')
  const { accountId } = c.get('principal')
  return replyList(c, contract.listAudit, c.req.valid('query'), {
    readPage: ([before = '']) =>
      listAudit(c.get('db'), { ...query, accountId, before: String(before) }),
    toBody: (rows) => ({ entries: rows.map(presentEntry) }),
  })
})

/** A page of each cell, merged. It ends where the page of the first cell to end early does. */
const listOfCells = async (env: Env, query: AuditQuery): Promise<Page<AuditRow>> => {
  const pages = await Promise.all(
    cellNumbers(env).map((cell) => listAudit(withRetries(openCell(env, cell)), query)),
  )
  const ends = pages.flatMap(({ next }) => (next ? [String(next[0])] : []))
  const end = ends.sort().at(-1) ?? ''
  // While an account moves, two cells have its entries.
  const rows = [...new Map(pages.flatMap((page) => page.rows).map((row) => [row.id, row])).values()]
    .filter(({ id }) => id >= end)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  return toPage(rows, query.limit, byId, end === '' ? undefined : { id: end })
}

export const operatorAudit = new Hono<AppEnv>().get('/', operation(contract.listAllAudit), (c) => {
  const { cursor, account, ...query } = c.req.valid('query')
  return replyList(c, contract.listAllAudit, c.req.valid('query'), {
    readPage: async ([before = '']) => {
      const listing = { ...query, accountId: account ?? null, before: String(before) }
      const entry = account && (await findInDirectory(withRetries(openDirectory(c.env)), account))
      return entry
        ? listAudit(withRetries(openCell(c.env, entry.cell)), listing)
        : listOfCells(c.env, listing)
    },
    toBody: (rows) => ({ entries: rows.map(presentOperatedEntry) }),
  })
})
