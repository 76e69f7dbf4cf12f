import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { evictKeysOfAccount } from '../../../src/auth/keyStatus.ts'
import { MOVED_TABLES } from '../../../src/db/accountTables.ts'
import { openCell } from '../../../src/db/open.ts'
import { names, readAll, statement } from '../../../src/db/statement.ts'
import { START } from '../../../src/domain/admin/move.ts'
import { isOwn } from '../../../src/move/rows.ts'
import { runMove } from '../../../src/move/run.ts'
import { evictSource } from '../../../src/sources/push/knownSource.ts'
import type { TestAccount } from '../accounts.ts'
import { watchStatements } from '../bindings.ts'
import { callAsOperator } from '../http.ts'

export const movePath = ({ id }: TestAccount) => `/admin/accounts/${id}/move`
export const readMove = async (account: TestAccount) =>
  (await callAsOperator('GET', movePath(account))).body.move

export const numberOf = async (accountId: string): Promise<number> =>
  (await env.DB.prepare('SELECT number FROM directory WHERE account_id = ?')
    .bind(accountId)
    .first<number>('number')) ?? 0

/** All rows of the account in a cell, by table. */
export const dump = async (cell: number, accountId: string, known?: number) => {
  const account = { accountId, number: known ?? (await numberOf(accountId)) }
  const tables: Record<string, unknown[]> = {}
  for (const moved of MOVED_TABLES) {
    const rows = await readAll(
      statement(
        openCell(env, cell),
        sql`SELECT ${names(...moved.columns)} FROM ${moved.table} WHERE ${isOwn(moved, account)}
          ORDER BY ${names(...moved.order)}`,
      ),
    )
    if (rows.length > 0) tables[moved.name] = rows
  }
  return tables
}

/** Puts a move into the table that no request works on. */
export const insertMove = async ({ id }: TestAccount, [from, to] = [0, 1]): Promise<void> => {
  await env.DB.prepare('DELETE FROM moves WHERE account_id = ?').bind(id).run()
  await env.DB.prepare(`INSERT INTO moves VALUES (?, ?, ?, 'copying', ?, '', 0, 1, 1, NULL)`)
    .bind(id, from, to, JSON.stringify(START))
    .run()
}

const SET_STATE = /^update "moved_accounts" set "state"/i
/** Where a move from cell 0 to cell 1 can be stopped: at which statement in the new cell. */
const STOPS = {
  copying: [/INSERT OR REPLACE INTO "devices"/i, 1],
  secondPage: [/INSERT OR REPLACE INTO "locations"/i, 2],
  frozen: [SET_STATE, 1],
  moved: [SET_STATE, 2],
  arrived: [/NOT EXISTS \(SELECT 1 FROM "move_changes"/i, 1],
} as const

/** A move that was killed there. */
export const stopMove = async (account: TestAccount, at: keyof typeof STOPS): Promise<void> => {
  const [pattern, nth] = STOPS[at]
  let left: number = nth
  const inspect = (text: string) => {
    if (pattern.test(text) && --left <= 0) throw new Error('killed')
  }
  await insertMove(account)
  const killed = { ...env, CELL_1: watchStatements(env.CELL_1, inspect) }
  await runMove(killed, account.id)
  expect((await readMove(account)).fault, `stopped at ${at}`).toMatch(/tried again/)
}

/** Ends the minute for which the old rows stay. */
export const endGrace = (accountId: string) =>
  env.DB.prepare(
    "UPDATE moves SET position = json_set(position, '$.switchedAt', 1) WHERE account_id = ?",
  )
    .bind(accountId)
    .run()

/** Old rows go after a minute, when no isolate has anything cached any more. */
export const evictAll = async ({ id }: TestAccount): Promise<void> => {
  evictKeysOfAccount(id)
  const { results } = await env.DB.prepare('SELECT id FROM source_directory WHERE account_id = ?')
    .bind(id)
    .all<{ id: string }>()
  for (const source of results) evictSource(source.id)
}

export const finishMove = async (account: TestAccount): Promise<void> => {
  await expect
    .poll(
      async () => {
        await env.DB.prepare('UPDATE moves SET leased_until = 0 WHERE account_id = ?')
          .bind(account.id)
          .run()
        await runMove(env, account.id)
        await endGrace(account.id)
        return (await readMove(account)).step
      },
      { timeout: 20_000, interval: 50 },
    )
    .toMatch(/^(done|cancelled)$/)
  await evictAll(account)
}

export const report = (account: TestAccount, deviceId: string, minute: number) =>
  account.call('POST', `/api/devices/${deviceId}/locations`, {
    body: {
      dateTime: new Date(Date.now() - minute * 60_000).toISOString(),
      latitude: 47.3769,
      longitude: 8.5417 + minute / 1000,
    },
  })
