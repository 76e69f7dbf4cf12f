import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, directory, keys, users } from '../db/schema.ts'
import { compile, names, readFirst, runBatch } from '../db/statement.ts'
import { type Scope, toScopes } from '../domain/account/scope.ts'
import type { AccessPeriod } from '../domain/account/user.ts'

interface AccountRow {
  account_id: string
  cell: number
}

const selectAccount = compile<{ userNameKey: string }, AccountRow>(
  sql`SELECT ${directory.accountId}, ${directory.cell} FROM ${directory}
    WHERE ${directory.userNameKey} = ${sql.placeholder('userNameKey')}`,
)

/** The account with this user name. */
export const findAccount = async (
  db: Database,
  userNameKey: string,
): Promise<{ accountId: string; cell: number } | null> => {
  const row = await readFirst(selectAccount(db, { userNameKey }))
  return row && { accountId: row.account_id, cell: row.cell }
}

/** A key with what decides whether it gets a token. */
export interface SignInKey {
  accountId: string
  hash: string
  scopes: Scope[]
  expires: number | null
  userId: string | null
  /** Whether the account is disabled. */
  disabled: boolean
  /** Null for an unbound key, and for one whose user is deleted. */
  user: (AccessPeriod & { disabledMessage: string }) | null
}

interface KeyRow {
  account_id: string
  hash: string
  scopes: string
  key_expires: number | null
  user_id: string | null
  account_disabled: number
  found_user: string | null
  user_disabled: number
  disabled_message: string
  from_time: number | null
  user_expires: number | null
}

const selectKey = compile<{ keyId: string }, KeyRow>(
  sql`SELECT ${keys.accountId}, ${keys.hash}, ${keys.scopes}, ${keys.expires} AS key_expires,
      ${keys.userId}, ${accounts.disabled} AS account_disabled, ${users.id} AS found_user,
      ${users.disabled} AS user_disabled, ${users.disabledMessage}, ${users.fromTime},
      ${users.expires} AS user_expires
    FROM ${keys} JOIN ${accounts} ON ${accounts.id} = ${keys.accountId}
    LEFT JOIN ${users} ON ${users.id} = ${keys.userId} AND ${users.accountId} = ${keys.accountId}
    WHERE ${keys.id} = ${sql.placeholder('keyId')}`,
)

const toKey = (row: KeyRow): SignInKey => ({
  accountId: row.account_id,
  hash: row.hash,
  scopes: toScopes(JSON.parse(row.scopes)),
  expires: row.key_expires,
  userId: row.user_id,
  disabled: row.account_disabled === 1,
  user:
    row.found_user === null
      ? null
      : {
          disabled: row.user_disabled === 1,
          disabledMessage: row.disabled_message,
          from: row.from_time,
          expires: row.user_expires,
        },
})

export const findKey = async (db: Database, keyId: string): Promise<SignInKey | null> => {
  const row = await readFirst(selectKey(db, { keyId }))
  return row && toKey(row)
}

/** In one round trip: the account with this user name, and the key if cell 0 has it. */
export const searchDirectory = async (
  directoryDb: Database,
  { userNameKey, keyId }: { userNameKey: string; keyId: string },
): Promise<{ account: { accountId: string; cell: number } | null; key: SignInKey | null }> => {
  const [{ results: accountRows }, { results: keyRows }] = await runBatch(directoryDb, [
    selectAccount(directoryDb, { userNameKey }),
    selectKey(directoryDb, { keyId }),
  ])
  const [account] = accountRows
  const [key] = keyRows
  return {
    account: account ? { accountId: account.account_id, cell: account.cell } : null,
    key: key ? toKey(key) : null,
  }
}

const updateLastLogin = compile<{ userId: string; now: number }>(
  sql`UPDATE ${users} SET ${names(users.lastLogin)} = ${sql.placeholder('now')}
    WHERE ${users.id} = ${sql.placeholder('userId')}`,
)

/** Leaves the user's version and `modification` unchanged: a sign-in is not an edit. */
export const recordLogin = async (db: Database, userId: string, now: number): Promise<void> => {
  await updateLastLogin(db, { userId, now }).run()
}
