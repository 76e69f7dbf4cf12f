import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { renewAfter } from '../db/queries/rulesVersion.ts'
import { insertSelect, select } from '../db/query.ts'
import { devices, groups, rules, silentMarks, zones } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
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

const selectUnknown = (accountId: string, references: Reference[]) =>
  references.map((reference) =>
    select(
      { id: sql<string>`id` },
      sql`FROM (${unknownIds(accountId, reference)}) LIMIT ${MAX_ERRORS}`,
    ),
  )

const findErrors = (references: Reference[], unknown: { results: { id: string }[] }[]) =>
  references.flatMap(({ pointer, what, ids }, index): FieldError[] =>
    (unknown[index]?.results ?? []).map(({ id }) => ({
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
  const insert = insertSelect(
    rules,
    {
      id,
      accountId,
      enabled: record.enabled,
      type: record.when.type,
      record,
      creation: now,
      lastModified: now,
      version: 1,
    },
    sql`WHERE (SELECT count(*) FROM ${rules} WHERE ${rules.accountId} = ${accountId}) < ${MAX_RULES}
        AND ${areKnown(accountId, references)}
      ON CONFLICT DO NOTHING`,
  )
  const { found, unknown } = await runBatch(db, {
    inserted: renewAfter(db, accountId, insert),
    found: selectRule(db, accountId, id),
    unknown: selectUnknown(accountId, references),
  })
  const [row] = found.results
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
const deleteMarks = (db: Database, accountId: string, id: string, isWritten: SQL) =>
  db
    .delete(silentMarks)
    .where(and(eq(silentMarks.ruleId, id), eq(silentMarks.accountId, accountId), isWritten))

export const updateRule = async (
  db: Database,
  { accountId, before, record, now }: RuleEdit,
): Promise<RuleOutcome> => {
  const references = referencesOf(record)
  const own = isOwnRule(accountId, before.id)
  const version = before.version + 1
  const update = db
    .update(rules)
    .set({ enabled: record.enabled, type: record.when.type, record, lastModified: now, version })
    .where(and(own, eq(rules.version, before.version), areKnown(accountId, references)))
  const isWritten = sql`EXISTS (SELECT 1 FROM ${rules}
    WHERE ${own} AND ${rules.version} = ${version} AND ${rules.lastModified} = ${now})`
  const { written, found, unknown } = await runBatch(db, {
    written: renewAfter(db, accountId, update),
    marks: deleteMarks(db, accountId, before.id, isWritten),
    found: selectRule(db, accountId, before.id),
    unknown: selectUnknown(accountId, references),
  })
  const [row] = found.results
  if (!row) return refuse('rule-not-found')
  if (written[0].meta.changes === 1) return { ok: true, rule: toRule(row) }
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
  const own = isOwnRule(accountId, id)
  const isExpected = versions ? sql`${rules.version} IN ${valuesOf(versions)}` : undefined
  const isDeleted = sql`NOT EXISTS (SELECT 1 FROM ${rules} WHERE ${own})`
  const { before, deleted } = await runBatch(db, {
    before: db.select({ version: rules.version }).from(rules).where(own),
    deleted: renewAfter(db, accountId, db.delete(rules).where(and(own, isExpected))),
    marks: deleteMarks(db, accountId, id, isDeleted),
  })
  if (deleted[0].meta.changes === 1) return { ok: true }
  return refuse(before.results.length === 0 ? 'rule-not-found' : 'precondition-failed')
}
