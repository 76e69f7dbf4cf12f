import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../open.ts'
import { rules } from '../../schema.ts'
import { type Statement, statement } from '../../statement.ts'
import { renewIfChanged } from './version.ts'

/*
 * Takes a deleted device or group out of the rules that name it. A rule that is left without any
 * would be for all devices: it is disabled instead.
 */

interface Target {
  accountId: string
  member: 'devices' | 'groups'
  id: string
  /** A condition of every statement: whether the device or group is really deleted. */
  guard?: SQL
}

export const removeRuleTarget = (
  db: Database,
  { accountId, member, id, guard = sql`true` }: Target,
): readonly Statement[] => {
  const path = `$.${member}`
  const other = member === 'devices' ? '$.groups' : '$.devices'
  const left = sql`(SELECT json_group_array(value) FROM json_each(record, ${path}) WHERE value <> ${id})`
  const isEmpty = sql`json_array_length(record, ${path}) = 1 AND json_array_length(record, ${other}) = 0`
  const enabled = sql`CASE WHEN ${isEmpty} THEN 0 ELSE enabled END`
  const record = sql`json_set(record, ${path}, ${left}, '$.enabled',
    json(CASE WHEN ${enabled} THEN 'true' ELSE 'false' END))`
  return [
    statement(
      db,
      sql`UPDATE ${rules} SET record = ${record}, enabled = ${enabled}, version = ${rules.version} + 1
        WHERE ${rules.accountId} = ${accountId} AND ${guard} AND EXISTS (
          SELECT 1 FROM json_each(record, ${path}) WHERE value = ${id})`,
    ),
    renewIfChanged(db, accountId),
  ]
}
