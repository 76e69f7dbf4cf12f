import { getTableColumns, sql } from 'drizzle-orm'
import { isHere } from '../../db/movedCell.ts'
import type { Database } from '../../db/open.ts'
import { select } from '../../db/query.ts'
import { accounts, rules } from '../../db/schema.ts'
import { readAll, statement } from '../../db/statement.ts'
import { accountNumberOf, deviceKey, keysBeside } from '../../domain/account/device.ts'
import type { Rule } from '../../domain/rule/rule.ts'
import { toRule } from '../../rules/store.ts'

/* The accounts whose devices are watched for silence, some at a time. */

/** More than an account can have, so that at least one account is complete. */
const MAX_RULES = 2000
/** Devices and groups that rules name; one rule can name 2000. They are passed as one value each. */
const MAX_TARGETS = 20_000

export interface WatchedAccount {
  id: string
  number: number
  timeZone: string
  day: string
  rules: Rule[]
}

export const isForAll = ({ devices, groups }: Rule): boolean => devices.length + groups.length === 0

const countTargets = (own: Rule[]): number =>
  own.reduce((count, { devices, groups }) => count + devices.length + groups.length, 0)

/**
 * Accounts with rules about silence, from that of a device key on, in the order of their keys. A
 * disabled account is not watched: its ordinary reports are refused. `lastKey` is where the next
 * accounts begin; 0 when these were the last.
 */
export const readWatchedAccounts = async (db: Database, afterKey: number) => {
  const rows = await readAll(
    statement(
      db,
      select(
        {
          ...getTableColumns(rules),
          number: accounts.number,
          timeZone: accounts.timeZone,
          day: accounts.day,
        },
        sql`FROM ${rules} INDEXED BY rules_contact
          JOIN ${accounts} ON ${accounts.id} = ${rules.accountId}
          WHERE ${rules.enabled} = 1 AND ${rules.type} IN ('silent', 'returns')
            AND ${accounts.number} >= ${accountNumberOf(afterKey + 1)}
            AND ${accounts.status} <> 'disabled' AND ${accounts.deletedAt} IS NULL
            AND ${isHere(accounts.id)}
          ORDER BY ${accounts.number}, ${rules.id} LIMIT ${MAX_RULES + 1}`,
      ),
    ),
  )
  const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
  const all = [...byAccount].flatMap(([id, own]): WatchedAccount[] =>
    own.slice(0, 1).map(({ number, timeZone, day }) => ({
      id,
      number,
      timeZone,
      day,
      rules: own.map(toRule),
    })),
  )
  // The last one may have more rules than were read.
  const complete = rows.length > MAX_RULES ? all.slice(0, -1) : all
  let targets = 0
  const list = complete.filter((account, index) => {
    targets += countTargets(account.rules)
    return index === 0 || targets <= MAX_TARGETS
  })
  const last = list.at(-1)
  const lastKey = list.length < all.length && last ? keysBeside(deviceKey(last.number, 0))[1] : 0
  const isWatched = ({ rules: own }: WatchedAccount) =>
    own.some(({ when }) => when.type === 'silent')
  return { accounts: list.filter(isWatched), lastKey }
}
export type WatchedAccounts = Awaited<ReturnType<typeof readWatchedAccounts>>
