import { MOVED_TABLES, type MovedTable } from '../../src/db/accountTables.ts'
import { DEVICES_PER_ACCOUNT } from '../../src/domain/account/device.ts'

/*
 * The triggers of every table whose rows move with their account (src/move/). While the account is
 * frozen or has left the cell they refuse each write, whoever makes it and whatever it has cached;
 * while it is copied they record which rows have changed. Otherwise a write pays one look into a
 * table that is almost always empty.
 */

const MOVING = 'account-moving'

const ownerOf = ({ owner, deviceKey }: MovedTable, row: string): string =>
  owner
    ? `account_id = ${row}.${owner.name}`
    : `number = ${row}.${deviceKey?.name} / ${DEVICES_PER_ACCOUNT}`

const triggersOf = (moved: MovedTable) =>
  (['INSERT', 'UPDATE', 'DELETE'] as const).map((event) => {
    const row = event === 'INSERT' ? 'NEW' : 'OLD'
    const isOwn = ownerOf(moved, row)
    const trigger = `${moved.name}_move_${event.toLowerCase()}`
    // A cell that the account has left deletes its rows.
    const away = event === 'DELETE' ? `'moved', 'landing'` : `'moved', 'landing', 'left'`
    const key = moved.key.map(({ name }) => `${row}.${name}`).join(', ')
    return [
      trigger,
      `CREATE TRIGGER ${trigger} BEFORE ${event} ON ${moved.name}
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE ${isOwn}) BEGIN
  SELECT RAISE(ABORT, '${MOVING}') FROM moved_accounts WHERE ${isOwn} AND (state IN (${away})
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, '${moved.name}', json_array(${key}) FROM moved_accounts
    WHERE ${isOwn} AND state IN ('copying', 'frozen', 'arrived');
END;`,
    ] as const
  })

/** The triggers as statements by their names. */
export const MOVE_TRIGGERS = MOVED_TABLES.flatMap(triggersOf)
