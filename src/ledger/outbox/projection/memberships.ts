import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { renewRulesVersion } from '../../../db/queries/rules/version.ts'
import { devices, groupDevices, users } from '../../../db/schema.ts'
import { compile, names, type Placeholders } from '../../../db/statement.ts'
import type { Write } from '../outbox.ts'

/* What refers to devices: memberships of groups, users and rules. */

const SORT_COLUMNS = sql`(${names(groupDevices.nameKey, groupDevices.creation)})`
const DEVICE_SORT_VALUES = sql`(SELECT ${devices.nameKey}, ${devices.creation} FROM ${devices}
  WHERE ${devices.key} = ${groupDevices.deviceKey})`

const correctSortValues = (where: SQL): SQL =>
  sql`UPDATE ${groupDevices} SET ${SORT_COLUMNS} = ${DEVICE_SORT_VALUES}
    WHERE ${where} AND ${SORT_COLUMNS} <> ${DEVICE_SORT_VALUES}`

/** A late effect changes no device, so memberships copy what the device's row has by now. */
export const updateMemberships = compile((p: Placeholders<{ key: number }>) =>
  correctSortValues(sql`${groupDevices.deviceKey} = ${p.key}`),
)

/**
 * Removes references to devices that do not exist, which only a restored cell has, and corrects the
 * sort values of memberships.
 */
export const repairMemberships: Write<'memberships'> = (db, accountId) => [
  db.delete(groupDevices).where(
    sql`${groupDevices.accountId} = ${accountId} AND NOT EXISTS (
        SELECT 1 FROM ${devices} WHERE ${devices.key} = ${groupDevices.deviceKey})`,
  ),
  correctSortValues(sql`${groupDevices.accountId} = ${accountId}`),
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
  // A restored cell may have rules without the token that reports look at, or an old one.
  renewRulesVersion(db, accountId),
]
