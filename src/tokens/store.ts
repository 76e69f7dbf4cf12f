import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { nullable, select } from '../db/query.ts'
import { accounts, directory, keys, users } from '../db/schema.ts'
import { compile, type Placeholders, type RowOf, readFirst, runBatch } from '../db/statement.ts'
import { toScopes } from '../domain/account/scope.ts'

const selectAccount = compile((p: Placeholders<{ userNameKey: string }>) =>
  select(
    { accountId: directory.accountId, cell: directory.cell },
    sql`FROM ${directory} WHERE ${directory.userNameKey} = ${p.userNameKey}`,
  ),
)

/** The account with this user name. */
export const findAccount = (db: Database, userNameKey: string) =>
  readFirst(selectAccount(db, { userNameKey }))

const selectKey = compile((p: Placeholders<{ keyId: string }>) =>
  select(
    {
      accountId: keys.accountId,
      name: keys.name,
      hash: keys.hash,
      scopes: keys.scopes,
      expires: keys.expires,
      userId: keys.userId,
      disabled: sql<boolean>`${accounts.status} = 'disabled'`.mapWith(Boolean),
      isUserDisabled: nullable(users.disabled),
      disabledMessage: users.disabledMessage,
      from: users.fromTime,
      userExpires: users.expires,
    },
    sql`FROM ${keys} JOIN ${accounts} ON ${accounts.id} = ${keys.accountId}
      LEFT JOIN ${users} ON ${users.id} = ${keys.userId} AND ${users.accountId} = ${keys.accountId}
      WHERE ${keys.id} = ${p.keyId} AND ${accounts.deletedAt} IS NULL`,
  ),
)

/** A key with what decides whether it gets a token. */
const toKey = (row: RowOf<typeof selectKey>) => {
  const { isUserDisabled: disabled, disabledMessage, from, userExpires: expires, ...key } = row
  return {
    ...key,
    scopes: toScopes(key.scopes),
    /** Null for an unbound key, and for one whose user is deleted. */
    user: disabled === null ? null : { disabled, disabledMessage, from, expires },
  }
}

export const findKey = async (db: Database, keyId: string) => {
  const row = await readFirst(selectKey(db, { keyId }))
  return row && toKey(row)
}

/** In one round trip: the account with this user name, and the key if cell 0 has it. */
export const searchDirectory = async (
  directoryDb: Database,
  { userNameKey, keyId }: { userNameKey: string; keyId: string },
) => {
  const { accounts: found, keys: keyRows } = await runBatch(directoryDb, {
    accounts: selectAccount(directoryDb, { userNameKey }),
    keys: selectKey(directoryDb, { keyId }),
  })
  const [key] = keyRows.results
  return { account: found.results[0] ?? null, key: key ? toKey(key) : null }
}

const updateLastLogin = compile(
  (p: Placeholders<{ userId: string; now: number }>) =>
    sql`UPDATE ${users} SET last_login = ${p.now} WHERE ${users.id} = ${p.userId}`,
)

/** Leaves the user's version and `modification` unchanged: a sign-in is not an edit. */
export const recordLogin = async (db: Database, userId: string, now: number): Promise<void> => {
  await updateLastLogin(db, { userId, now }).run()
}
