import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import {
  type Creation,
  type Deletion,
  deleteOwned,
  type Edit,
  editOutcome,
  refuse,
} from '../db/queries/owned.ts'
import { checkReferences, refuseUnknown } from '../db/queries/references.ts'
import { renewAfter, renewIfChanged } from '../db/queries/rulesVersion.ts'
import { insertSelect } from '../db/query.ts'
import { devices, groups, rules, silentMarks, zones } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { MAX_RULES, type Rule, type RuleRecord, zonesOf } from '../domain/rule/rule.ts'
import { ownRules } from './store.ts'

const checkRecord = (accountId: string, record: RuleRecord) =>
  checkReferences(accountId, [
    { table: devices, what: 'device', pointer: '/devices', ids: record.devices },
    { table: groups, what: 'group', pointer: '/groups', ids: record.groups },
    { table: zones, what: 'zone', pointer: '/when/zones', ids: zonesOf(record.when) },
  ])

/** A retry after a crash has the same id: it finds the rule and changes nothing. */
export const createRule = async (
  db: Database,
  { accountId, id, record, now }: Creation<RuleRecord>,
) => {
  const { areKnown, selectErrors } = checkRecord(accountId, record)
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
        AND ${areKnown}
      ON CONFLICT DO NOTHING`,
  )
  const { found, errors } = await runBatch(db, {
    inserted: renewAfter(db, accountId, insert),
    found: ownRules.selectOne(accountId, id),
    errors: selectErrors,
  })
  const [row] = found.results
  return row ? { ok: true as const, row } : refuseUnknown(errors, refuse('rule-cap-reached'))
}

/** Devices that the rule has found silent are forgotten: it begins anew. */
const deleteMarks = (db: Database, accountId: string, id: string, isWritten: SQL) =>
  db
    .delete(silentMarks)
    .where(and(eq(silentMarks.ruleId, id), eq(silentMarks.accountId, accountId), isWritten))

export const updateRule = async (
  db: Database,
  { accountId, before, record, now }: Edit<Rule, RuleRecord>,
) => {
  const { areKnown, selectErrors } = checkRecord(accountId, record)
  const own = ownRules.isOwn(accountId, before.id)
  const version = before.version + 1
  const update = db
    .update(rules)
    .set({ enabled: record.enabled, type: record.when.type, record, lastModified: now, version })
    .where(sql`${own} AND ${rules.version} = ${before.version} AND ${areKnown}`)
  const isWritten = sql`EXISTS (SELECT 1 FROM ${rules}
    WHERE ${own} AND ${rules.version} = ${version} AND ${rules.lastModified} = ${now})`
  const { written, found, errors } = await runBatch(db, {
    written: renewAfter(db, accountId, update),
    marks: deleteMarks(db, accountId, before.id, isWritten),
    found: ownRules.selectOne(accountId, before.id),
    errors: selectErrors,
  })
  const rows = { before, after: found.results[0] }
  return editOutcome('rule', written[0].meta.changes === 1, rows, () =>
    refuseUnknown(errors, refuse('precondition-failed')),
  )
}

export const deleteRule = (db: Database, deletion: Deletion) => {
  const { accountId, id } = deletion
  return deleteOwned(db, ownRules, deletion, {
    thereafter: (isGone) => [renewIfChanged(db, accountId), deleteMarks(db, accountId, id, isGone)],
  })
}
