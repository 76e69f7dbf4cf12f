import { type SQL, sql } from 'drizzle-orm'
import type { PendingRaise } from '../../../domain/message/pendingRaise.ts'
import type { Database } from '../../open.ts'
import { insertSelect, json, select, selectIn } from '../../query.ts'
import {
  devices,
  groupDevices,
  locations,
  pendingRaises,
  rules,
  silentMarks,
} from '../../schema.ts'
import {
  compile,
  type Placeholders,
  type RowOf,
  readAll,
  runBatch,
  valuesOf,
} from '../../statement.ts'

/* When devices were last in contact, and which ones rules have found silent. */

/** The devices that rules are for, in the order of their keys. */
export interface ContactQuery {
  /** The first and the last device key of each account with a rule for all of its devices. */
  ranges: [first: number, last: number][]
  /** The devices and groups that other rules name. */
  deviceIds: string[]
  groupIds: string[]
  after: number
  limit: number
}

/** With lists as JSON. */
type Packed = Record<'ranges' | 'deviceIds' | 'groupIds', string> &
  Pick<ContactQuery, 'after' | 'limit'>

/** The latest arrival of anything from a device; 0 before the first. */
export const CONTACT = sql<number>`max(ifnull(${devices.lastContact}, 0),
  ifnull((SELECT ${locations.receivedAt} FROM ${locations}
    WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1), 0))`

/** Two rows for each device: its own and its last location's. */
const columnsOf = (p: Placeholders<Packed>) => ({
  key: devices.key,
  id: devices.id,
  accountId: devices.accountId,
  ends: devices.ends,
  contact: CONTACT,
  groups: json<string[]>(sql`(SELECT json_group_array(${groupDevices.groupId})
    FROM ${groupDevices} WHERE ${groupDevices.deviceKey} = ${devices.key}
      AND ${groupDevices.groupId} IN ${valuesOf(p.groupIds)})`),
  marks: json<Record<string, number>>(
    sql`(SELECT json_group_object(${silentMarks.ruleId}, ${silentMarks.contact})
      FROM ${silentMarks} WHERE ${silentMarks.deviceKey} = ${devices.key})`,
  ),
})

/** All devices of some accounts. */
const selectAll = compile((p: Placeholders<Packed>) =>
  select(
    columnsOf(p),
    sql`FROM json_each(${p.ranges}) given
      CROSS JOIN ${devices} ON ${devices.key} BETWEEN given.value ->> 0 AND given.value ->> 1
        AND ${devices.key} > ${p.after}
      ORDER BY given.key, ${devices.key} LIMIT ${p.limit}`,
  ),
)

export type ContactRow = RowOf<typeof selectAll>

/** The devices that rules name, by themselves or by a group. No row of others is read. */
const selectNamed = compile((p: Placeholders<Packed>) =>
  select(
    columnsOf(p),
    sql`FROM (
        SELECT ${devices.key} AS key FROM json_each(${p.deviceIds}) given
        CROSS JOIN ${devices} ON ${devices.id} = given.value WHERE ${devices.key} > ${p.after}
        UNION SELECT ${groupDevices.deviceKey} FROM json_each(${p.groupIds}) given
        CROSS JOIN ${groupDevices} ON ${groupDevices.groupId} = given.value
        WHERE ${groupDevices.deviceKey} > ${p.after}
        ORDER BY key LIMIT ${p.limit}) named
      CROSS JOIN ${devices} ON ${devices.key} = named.key ORDER BY ${devices.key}`,
  ),
)

/** A page in the order of the keys. */
export const readContactedDevices = async (
  db: Database,
  query: ContactQuery,
): Promise<ContactRow[]> => {
  const { ranges, deviceIds, groupIds, limit } = query
  const values = {
    ...query,
    ranges: JSON.stringify(ranges),
    deviceIds: JSON.stringify(deviceIds),
    groupIds: JSON.stringify(groupIds),
  }
  const all = ranges.length > 0 ? await readAll(selectAll(db, values)) : []
  const hasNamed = deviceIds.length + groupIds.length > 0
  const named = hasNamed ? await readAll(selectNamed(db, values)) : []
  const byKey = new Map([...all, ...named].map((row) => [row.key, row]))
  return [...byKey.values()].sort((a, b) => a.key - b.key).slice(0, limit)
}

/** A mark to set or to clear, with the alerts that follow from it. */
export interface MarkChange {
  ruleId: string
  /** Of the rule that it was evaluated by. */
  ruleVersion: number
  deviceKey: number
  accountId: string
  /** The contact that the device was silent after. */
  contact: number
  raises: PendingRaise[]
}

type Writing = Placeholders<{ changes: string; now: number }>
const change = (member: string) => sql`changed.value ->> ${sql.raw(`'$.${member}'`)}`
const IS_OF_CHANGE = sql`${silentMarks.ruleId} = ${change('ruleId')}
  AND ${silentMarks.deviceKey} = ${change('deviceKey')}`

/** False when the rule was changed or deleted since it was read: then it is evaluated again. */
const IS_SAME_RULE = sql`EXISTS (SELECT 1 FROM ${rules} WHERE ${rules.id} = ${change('ruleId')}
  AND ${rules.version} = ${change('ruleVersion')})`

const raiseWhere = (condition: SQL) =>
  compile((p: Writing) =>
    selectIn({ id: sql<string>`id` }, (list) =>
      insertSelect(
        pendingRaises,
        {
          id: sql`listed.value ->> '$.alert.id'`,
          accountId: change('accountId'),
          creation: p.now,
          raise: sql`listed.value`,
        },
        sql`FROM json_each(${p.changes}) changed, json_each(changed.value, '$.raises') listed
          WHERE ${condition} ON CONFLICT DO NOTHING RETURNING ${list}`,
      ),
    ),
  )

/** Only what no other run has marked. Must come before the marks themselves. */
const raiseSilences = raiseWhere(sql`${IS_SAME_RULE} AND NOT EXISTS (SELECT 1 FROM ${silentMarks}
  WHERE ${IS_OF_CHANGE} AND ${silentMarks.contact} >= ${change('contact')})`)
const setMarks = compile((p: Writing) =>
  insertSelect(
    silentMarks,
    {
      ruleId: change('ruleId'),
      deviceKey: change('deviceKey'),
      accountId: change('accountId'),
      contact: change('contact'),
    },
    sql`FROM json_each(${p.changes}) changed WHERE ${IS_SAME_RULE}
      ON CONFLICT DO UPDATE SET contact = excluded.contact
        WHERE ${silentMarks.contact} < excluded.contact`,
  ),
)
const raiseReturns = raiseWhere(sql`EXISTS (SELECT 1 FROM ${silentMarks}
  WHERE ${IS_OF_CHANGE} AND ${silentMarks.contact} = ${change('contact')})`)
const clearMarks = compile(
  (p: Writing) => sql`DELETE FROM ${silentMarks} WHERE (rule_id, device_key, contact) IN (
    SELECT ${change('ruleId')}, ${change('deviceKey')}, ${change('contact')}
    FROM json_each(${p.changes}) changed)`,
)

/** Some of the marks to set, or to clear. */
export interface MarkPart {
  kind: 'silences' | 'returns'
  changes: MarkChange[]
}

/** D1 takes values of up to 2 MB; a character takes up to three bytes. */
const MAX_PART_LENGTH = 600_000

const splitByLength = (changes: MarkChange[]): MarkChange[][] => {
  const parts: MarkChange[][] = []
  let length = 0
  for (const each of changes) {
    const own = JSON.stringify(each).length
    const last = parts.at(-1)
    length += own
    if (last && length <= MAX_PART_LENGTH) last.push(each)
    else {
      parts.push([each])
      length = own
    }
  }
  return parts
}

/** Parts to write one after the other. Returns come first: a silence replaces the mark of one. */
export const splitMarks = (found: Record<MarkPart['kind'], MarkChange[]>): MarkPart[] =>
  (['returns', 'silences'] as const).flatMap((kind) =>
    splitByLength(found[kind]).map((changes) => ({ kind, changes })),
  )

/**
 * Marks silent devices, or clears the marks of others, with their alerts, in one batch. Returns the
 * ids of the alerts that were stored: others are of another run, or of a rule that has changed.
 */
export const writeMarks = async (
  db: Database,
  { kind, changes }: MarkPart,
  now: number,
): Promise<Set<string>> => {
  const values = { changes: JSON.stringify(changes), now }
  const raise = kind === 'returns' ? raiseReturns : raiseSilences
  const mark = kind === 'returns' ? clearMarks : setMarks
  const { stored } = await runBatch(db, { stored: raise(db, values), marks: mark(db, values) })
  return new Set(stored.results.map(({ id }) => id))
}
