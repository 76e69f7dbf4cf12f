import { growScan } from '../db/boundedScan.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { type Page, toPage } from '../db/page.ts'
import type { AccountStatus } from '../domain/admin/status.ts'
import { fold } from '../domain/text/fold.ts'
import type { Env } from '../env.ts'
import { type DirectoryEntry, listDirectory, readSearched } from './store.ts'

/* The operator's list of accounts, with its filters. */

interface Search {
  q?: string | undefined
  userName?: string | undefined
  state?: AccountStatus | 'deleted' | undefined
  cell?: number | undefined
  /** The number that the page before ended with. */
  after: number
  limit: number
}

/** The entries whose accounts match, read from their cells. */
const filterEntries = async (env: Env, entries: DirectoryEntry[], { q, state }: Search) => {
  const wanted = q === undefined ? null : fold(q)
  const byCell = Map.groupBy(entries, ({ cell }) => cell)
  const found = await Promise.all(
    [...byCell].map(async ([cell, listed]) => {
      const ids = listed.map(({ accountId }) => accountId)
      return readSearched(withRetries(openCell(env, cell)), ids)
    }),
  )
  const matching = new Set(
    found
      .flat()
      .filter(({ id, name, userName, status, deletedAt }) => {
        const isIn = deletedAt === null ? status : 'deleted'
        const isFound =
          wanted === null ||
          id === q ||
          [name, userName].some((text) => fold(text).includes(wanted))
        return isFound && (state === undefined || state === isIn)
      })
      .map(({ id }) => id),
  )
  return entries.filter(({ accountId }) => matching.has(accountId))
}

/** In the order of their numbers. A filter that few accounts match may end a page early. */
export const searchAccounts = async (env: Env, search: Search): Promise<Page<DirectoryEntry>> => {
  const { q, state, userName, cell, after, limit } = search
  const directory = withRetries(openDirectory(env))
  const isFiltered = q !== undefined || state !== undefined
  const userNameKey = userName === undefined ? undefined : fold(userName)
  const { rows, end } = await growScan({ isFiltered, limit }, async (scanned) => {
    const listed = await listDirectory(directory, { after, limit: scanned, userNameKey, cell })
    if (!isFiltered) return { rows: listed, end: undefined }
    const end = listed.length === scanned ? listed.at(-1) : undefined
    return { rows: await filterEntries(env, listed, search), end }
  })
  return toPage(rows, limit, ({ number }) => [number], end)
}
