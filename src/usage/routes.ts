import { Hono } from 'hono'
import { parseAccept } from 'hono/utils/accept'
import { findInDirectory } from '../admin/store.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { byId, toPage } from '../db/page.ts'
import { readBudgetState } from '../db/queries/usage.ts'
import { currentDay } from '../domain/account/license.ts'
import { addDays } from '../domain/time/day.ts'
import type { DaySpan } from '../domain/usage/licenseDays.ts'
import { daysOfMonth, endOfMonth, type Month, monthOf } from '../domain/usage/usage.ts'
import { cellNumbers } from '../env.ts'
import { readCurrentUsage } from '../http/budget/meters.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { readCursor } from '../http/paging/page.ts'
import { newReply, setHeader } from '../http/reply/newReply.ts'
import { linkNext, reply, replyPage } from '../http/reply/reply.ts'
import { operatorContext, requestContext, type ServiceContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { writeMeterEvents } from './meterEvents.ts'
import { type ListedUsage, presentListed, writeListCsv, writeUsageCsv } from './present.ts'
import { readUsage, reportOf } from './readUsage.ts'
import { type ListedAccount, listMonth } from './store.ts'

const replyCsv = (c: Context, text: string) =>
  newReply(c, text, 200, { 'Content-Type': 'text/csv; charset=utf-8; header=present' })

/** The named format, or what `Accept` prefers. */
const formatOf = <F extends string>(c: Context, named: F | undefined): F | 'json' | 'csv' => {
  setHeader(c, 'Vary', 'Accept')
  const [first] = parseAccept(c.req.header('Accept') ?? '')
  return named ?? (first?.type.toLowerCase() === 'text/csv' ? 'csv' : 'json')
}

type Wanted = { [N in keyof DaySpan]?: DaySpan[N] | undefined }

/** The days of the query, by default those of the month so far. */
const spanOf = async ({ db, accountId, now }: ServiceContext, query: Wanted): Promise<DaySpan> => {
  const account = await readBudgetState(db, accountId)
  if (!account) throw new Problem('account-not-found')
  const { to = currentDay(account, now()) } = query
  const { from = `${monthOf(to)}-01` } = query
  if (from > to) throw invalid({ pointer: '#/query/from', detail: 'must not be after to' })
  if (from <= addDays(to, -contract.SPAN_LIMIT))
    throw invalid({
      pointer: '#/query/from',
      detail: `must be less than ${contract.SPAN_LIMIT} days before to`,
    })
  return { from, to }
}

const readOf = async (context: ServiceContext, query: Wanted) => {
  const span = await spanOf(context, query)
  // What this isolate has counted goes to the cell first.
  await readCurrentUsage(context)
  const usage = await readUsage(context, span)
  if (!usage) throw new Problem('account-not-found')
  return usage
}

export const accountUsage = new Hono<AppEnv>().get(
  '/',
  operation(contract.readAccountUsage),
  async (c) => {
    const { format, ...query } = c.req.valid('query')
    const wanted = formatOf(c, format)
    const usage = await readOf(requestContext(c), query)
    if (wanted === 'csv') return replyCsv(c, writeUsageCsv(usage))
    return reply(c, contract.readAccountUsage, { success: true, ...usage })
  },
)

/** Of the accounts of a page, those whose month is not closed ask their ledgers. */
const MAX_ACCOUNTS = 100
const CONCURRENT_READS = 10

/** Accounts of all cells by id. One that was moved may be listed by two cells. */
const listOfCells = async (c: Context, month: Month, after: string, limit: number) => {
  const openedBefore = endOfMonth(month)
  const pages = await Promise.all(
    cellNumbers(c.env).map(async (cell) => {
      const db = withRetries(openCell(c.env, cell))
      const rows = await listMonth(db, { month, openedBefore, after, limit: limit + 1 })
      return rows.map((row) => ({ ...row, cell }))
    }),
  )
  const byAccount = new Map<string, ListedAccount & { cell: number }>()
  for (const row of pages.flat()) if (!byAccount.get(row.id)?.record) byAccount.set(row.id, row)
  const rows = [...byAccount.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  return toPage(rows, limit, byId)
}

const readListed = async (
  c: Context,
  month: Month,
  { id: accountId, cell, userName, name, record }: ListedAccount & { cell: number },
): Promise<ListedUsage | null> => {
  const span = daysOfMonth(month)
  const account = { env: c.env, db: withRetries(openCell(c.env, cell)), accountId }
  const usage = record ? reportOf([record], span, true) : await readUsage(account, span)
  return usage && { accountId, userName, name, usage }
}

const readPage = async (c: Context, month: Month, after: string, limit: number) => {
  const { rows, next } = await listOfCells(c, month, after, Math.min(limit, MAX_ACCOUNTS))
  const accounts: ListedUsage[] = []
  for (let first = 0; first < rows.length; first += CONCURRENT_READS) {
    const some = rows.slice(first, first + CONCURRENT_READS)
    const found = await Promise.all(some.map((row) => readListed(c, month, row)))
    accounts.push(...found.filter((one) => one !== null))
  }
  return { accounts, next }
}

export const operatorUsage = new Hono<AppEnv>()
  .get('/usage', operation(contract.listUsage), async (c) => {
    const { month, format, limit, cursor } = c.req.valid('query')
    const wanted = formatOf(c, format)
    const [after = ''] = (await readCursor(c, cursor)) ?? []
    const { accounts, next } = await readPage(c, month, String(after), limit)
    if (wanted === 'json')
      return replyPage(c, contract.listUsage, { accounts: accounts.map(presentListed) }, next)
    const isOpen = accounts.some(({ usage }) => !usage.closed)
    if (wanted !== 'csv' && isOpen) throw new Problem('usage-month-open')
    await linkNext(c, next)
    if (wanted === 'csv') return replyCsv(c, writeListCsv(accounts))
    const events = accounts.map((account) => writeMeterEvents(wanted, month, account))
    const text = (await Promise.all(events)).join('')
    return newReply(c, text, 200, { 'Content-Type': 'application/x-ndjson' })
  })
  .get('/accounts/:accountId/usage', operation(contract.readOperatedUsage), async (c) => {
    const { format, ...query } = c.req.valid('query')
    const wanted = formatOf(c, format)
    const id = c.req.param('accountId')
    const entry = await findInDirectory(withRetries(openDirectory(c.env)), id)
    if (!entry) throw new Problem('account-not-found')
    const usage = await readOf(operatorContext(c, { id, cell: entry.cell }), query)
    if (wanted === 'csv') return replyCsv(c, writeUsageCsv(usage))
    return reply(c, contract.readOperatedUsage, { success: true, ...usage })
  })
