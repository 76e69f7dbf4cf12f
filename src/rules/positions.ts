import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { rules, zones } from '../db/schema.ts'
import { compile, type Placeholders, readFirst } from '../db/statement.ts'
import { MIN_RULE_POSITIONS } from '../domain/geo/zone.ts'
import { describeRuleUse, MAX_RULE_POSITIONS } from '../domain/rule/rule.ts'

/*
 * The positions of the zones that the rules of an account name, counted for each rule: how much one
 * location may have to be compared with.
 */

const counted = sql`max(${zones.vertices}, ${sql.raw(String(MIN_RULE_POSITIONS))})`

/** A rule and a zone that it names, for each of them. */
const namedZones = (accountId: SQL | string): SQL =>
  sql`${rules} CROSS JOIN json_each(${rules.record}, '$.when.zones') named
    CROSS JOIN ${zones} ON ${zones.id} = named.value
    WHERE ${rules.accountId} = ${accountId} AND ${zones.accountId} = ${accountId}`

const sumOf = (accountId: string, zoneIds: readonly string[]): SQL =>
  sql`(SELECT ifnull(sum(${counted}), 0) FROM json_each(${JSON.stringify(zoneIds)}) own
    CROSS JOIN ${zones} ON ${zones.id} = own.value WHERE ${zones.accountId} = ${accountId})`

interface RuleZones {
  accountId: string
  /** The rule as it is, unless it is new. */
  before: { id: string; zones: readonly string[] } | null
  zones: readonly string[]
}

/** Whether the account may have the rule with these zones: also when they are no more than before. */
export const mayNameZones = ({ accountId, before, zones: named }: RuleZones): SQL => {
  const others = sql`(SELECT ifnull(sum(${counted}), 0) FROM ${namedZones(accountId)}
    AND ${rules.id} <> ${before?.id ?? ''})`
  return sql`(${sumOf(accountId, named)} <= max(${MAX_RULE_POSITIONS} - ${others},
    ${sumOf(accountId, before?.zones ?? [])}))`
}

/** Whether the rules may name a zone once it has so many positions: also when that is no more. */
export const mayHavePositions = (accountId: string, zoneId: string, vertices: number): SQL => {
  const then = Math.max(vertices, MIN_RULE_POSITIONS)
  return sql`(SELECT ifnull(sum(CASE ${zones.id} WHEN ${zoneId} THEN ${then} ELSE ${counted} END), 0)
    <= max(${MAX_RULE_POSITIONS}, ifnull(sum(${counted}), 0)) FROM ${namedZones(accountId)})`
}

const selectUse = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    {
      rules: sql<number>`(SELECT count(*) FROM ${rules} WHERE ${rules.accountId} = ${p.accountId})`,
      positions: sql<number>`(SELECT ifnull(sum(${counted}), 0)
        FROM ${namedZones(sql`${p.accountId}`)})`,
      vertices: sql<number>`(SELECT ifnull(sum(${zones.vertices}), 0) FROM ${zones}
        WHERE ${zones.accountId} = ${p.accountId})`,
    },
    sql``,
  ),
)

/** Adds to a refusal because of the account's limits what it uses of them. */
export const explainCap = async <Outcome extends { ok: boolean; refusal?: string }>(
  db: Database,
  accountId: string,
  outcome: Outcome,
): Promise<Outcome & { detail?: string }> => {
  if (!outcome.refusal?.endsWith('-cap-reached')) return outcome
  const use = await readFirst(selectUse(db, { accountId }))
  return use ? { ...outcome, detail: describeRuleUse(use) } : outcome
}
