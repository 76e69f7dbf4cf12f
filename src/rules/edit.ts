import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { renewAfterChange } from '../db/queries/rulesVersion.ts'
import { devices, groups, rules, silentMarks, zones } from '../db/schema.ts'
import { names, runBatch, type Statement, statement, valuesOf } from '../db/statement.ts'
import { MAX_RULES, type Rule, type RuleRecord, zonesOf } from '../domain/rule/rule.ts'
import { isOwnRule, selectRule, toRule } from './store.ts'

/* Each edit is one atomic batch with its whole condition in every statement. */

type FieldError = { pointer: string; detail: string }
type Refusal = 'rule-not-found' | 'rule-cap-reached' | 'precondition-failed'
export type RuleRefusal =
  | { ok: false; refusal: Refusal }
  | { ok: false; refusal: 'invalid-request'; errors: FieldError[] }
export type RuleOutcome = { ok: true; rule: Rule } | RuleRefusal

const refuse = (refusal: Refusal): RuleRefusal => ({ ok: false, refusal })

const MAX_ERRORS = 20

interface Reference {
  table: SQLWrapper
  pointer: string
  what: string
  ids: string[]
}

const referencesOf = (record: RuleRecord): Reference[] => [
  { table: devices, pointer: '/devices', what: 'device', ids: record.devices },
  { table: groups, pointer: '/groups', what: 'group', ids: record.groups },
  { table: zones, pointer: '/when/zones', what: 'zone', ids: zonesOf(record.when) },
]

/** The ids of a list that name nothing of the account. */
const unknownIds = (accountId: string, { table, ids }: Reference): SQL =>
  sql`SELECT listed.value AS id FROM json_each(${JSON.stringify(ids)}) listed
    WHERE NOT EXISTS (SELECT 1 FROM ${table} named
      WHERE named.id = listed.value AND named.account_id = ${accountId})`

const areKnown = (accountId: string, references: Reference[]): SQL =>
  sql.join(
    references.map((reference) => sql`NOT EXISTS (${unknownIds(accountId, reference)})`),
    sql` AND `,
  )

const selectUnknown = (db: Database, accountId: string, references: Reference[]) =>
  references.map((reference) =>
    statement<{ id: string }>(db, sql`${unknownIds(accountId, reference)} LIMIT ${MAX_ERRORS}`),
  )

const findErrors = (references: Reference[], results: { results: unknown[] }[]): FieldError[] =>
  references.flatMap(({ pointer, what, ids }, index) =>
    ((results[index]?.results ?? []) as { id: string }[]).map(({ id }) => ({
      pointer: `${pointer}/${ids.indexOf(id)}`,
      detail: `is not a ${what} of this account`,
    })),
  )

interface NewRule {
  accountId: string
  id: string
  record: RuleRecord
  now: number
}

/** A retry after a crash has the same id: it finds the rule and changes nothing. */
export const createRule = async (
  db: Database,
  { accountId, id, record, now }: NewRule,
): Promise<RuleOutcome> => {
  const references = referencesOf(record)
  const columns = names(
    rules.id,
    rules.accountId,
    rules.enabled,
    rules.type,
    rules.record,
    rules.creation,
    rules.lastModified,
    rules.version,
  )
  const statements: Statement[] = [
    statement(
      db,
      sql`INSERT INTO ${rules} (${columns})
        SELECT ${id}, ${accountId}, ${record.enabled ? 1 : 0}, ${record.when.type},
          ${JSON.stringify(record)}, ${now}, ${now}, 1
        WHERE (SELECT count(*) FROM ${rules} WHERE ${rules.accountId} = ${accountId}) < ${MAX_RULES}
          AND ${areKnown(accountId, references)}
        ON CONFLICT DO NOTHING`,
    ),
    renewAfterChange(db, accountId),
    selectRule(db, accountId, id),
    ...selectUnknown(db, accountId, references),
  ]
  const [, , found, ...unknown] = await runBatch(db, statements)
  const [row] = (found as D1Result<Parameters<typeof toRule>[0]>).results
  if (row) return { ok: true, rule: toRule(row) }
  const errors = findErrors(references, unknown)
  return errors.length > 0
    ? { ok: false, refusal: 'invalid-request', errors }
    : refuse('rule-cap-reached')
}

interface RuleEdit {
  accountId: string
  before: Rule
  record: RuleRecord
  now: number
}

/** Devices that the rule has found silent are forgotten: it begins anew. */
const forgetMarks = (db: Database, accountId: string, id: string): Statement =>
  statement(
    db,
    sql`DELETE FROM ${silentMarks} WHERE ${silentMarks.ruleId} = ${id}
      AND ${silentMarks.accountId} = ${accountId} AND changes() > 0`,
  )

export const updateRule = async (
  db: Database,
  { accountId, before, record, now }: RuleEdit,
): Promise<RuleOutcome> => {
  const references = referencesOf(record)
  const statements: Statement[] = [
    statement(
      db,
      sql`UPDATE ${rules} SET enabled = ${record.enabled ? 1 : 0}, type = ${record.when.type},
          record = ${JSON.stringify(record)}, last_modified = ${now}, version = ${rules.version} + 1
        WHERE ${isOwnRule(accountId, before.id)} AND ${rules.version} = ${before.version}
          AND ${areKnown(accountId, references)}`,
    ),
    renewAfterChange(db, accountId),
    forgetMarks(db, accountId, before.id),
    selectRule(db, accountId, before.id),
    ...selectUnknown(db, accountId, references),
  ]
  const [written, , , found, ...unknown] = await runBatch(db, statements)
  const [row] = (found as D1Result<Parameters<typeof toRule>[0]>).results
  if (!row) return refuse('rule-not-found')
  if (written?.meta.changes === 1) return { ok: true, rule: toRule(row) }
  if (row.version !== before.version) return refuse('precondition-failed')
  return { ok: false, refusal: 'invalid-request', errors: findErrors(references, unknown) }
}

interface RuleDeletion {
  accountId: string
  id: string
  /** What If-Match names, compared at the moment of the write. */
  versions: number[] | null
}

export const deleteRule = async (
  db: Database,
  { accountId, id, versions }: RuleDeletion,
): Promise<{ ok: true } | RuleRefusal> => {
  const isExpected = versions ? sql`${rules.version} IN ${valuesOf(versions)}` : sql`true`
  const [before, deleted] = await runBatch(db, [
    statement<{ version: number }>(
      db,
      sql`SELECT ${rules.version} FROM ${rules} WHERE ${isOwnRule(accountId, id)}`,
    ),
    statement(db, sql`DELETE FROM ${rules} WHERE ${isOwnRule(accountId, id)} AND ${isExpected}`),
    renewAfterChange(db, accountId),
    forgetMarks(db, accountId, id),
  ])
  if (deleted.meta.changes === 1) return { ok: true }
  return refuse(before.results.length === 0 ? 'rule-not-found' : 'precondition-failed')
}
