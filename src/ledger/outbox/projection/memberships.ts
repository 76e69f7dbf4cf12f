import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { renewRulesVersion } from '../../../db/queries/rulesVersion.ts'
import { devices, groupDevices, users } from '../../../db/schema.ts'
import { compile, names, type Statement, statement } from '../../../db/statement.ts'

/* What refers to devices: memberships of groups, users and rules. */

const SORT_COLUMNS = sql`(${names(groupDevices.nameKey, groupDevices.creation)})`
const DEVICE_SORT_VALUES = sql`(SELECT ${devices.nameKey}, ${devices.creation} FROM ${devices}
  WHERE ${devices.key} = ${groupDevices.deviceKey})`

/** A late effect changes no device, so memberships copy what the device's row has by now. */
export const updateMemberships = compile<{ key: number }>(
  sql`UPDATE ${groupDevices} SET ${SORT_COLUMNS} = ${DEVICE_SORT_VALUES}
    WHERE ${groupDevices.deviceKey} = ${sql.placeholder('key')}
      AND ${SORT_COLUMNS} <> ${DEVICE_SORT_VALUES}`,
)

/**
 * Removes references to devices that do not exist, which only a restored cell has, and corrects the
 * sort values of memberships.
 */
export const repairMemberships = (db: Database, accountId: string): Statement[] => [
  statement(
    db,
    db.delete(groupDevices).where(
      sql`${groupDevices.accountId} = ${accountId} AND NOT EXISTS (
          SELECT 1 FROM ${devices} WHERE ${devices.key} = ${groupDevices.deviceKey})`,
    ),
  ),
  statement(
    db,
    sql`UPDATE ${groupDevices} SET ${SORT_COLUMNS} = ${DEVICE_SORT_VALUES}
      WHERE ${groupDevices.accountId} = ${accountId}
        AND ${SORT_COLUMNS} <> ${DEVICE_SORT_VALUES}`,
  ),
  statement(
    db,
    db
      .update(users)
      .set({ deviceId: null })
      .where(
        and(
          eq(users.accountId, accountId),
          isNotNull(users.deviceId),
          sql`NOT EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.id} = ${users.deviceId})`,
        ),
      ),
  ),
  // A restored cell may have rules without the token that reports look at, or an old one.
  renewRulesVersion(db, accountId),
]
