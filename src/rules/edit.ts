import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import {
  type Creation,
  createOwned,
  type Deletion,
  deleteOwned,
  type Edit,
  updateOwned,
} from '../db/queries/owned.ts'
import type { Reference } from '../db/queries/references.ts'
import { renewIfChanged } from '../db/queries/rules/version.ts'
import { devices, groups, rules, silentMarks, zones } from '../db/schema.ts'
import {
  beginsAnew,
  hasOtherTargets,
  MAX_RULES,
  type Rule,
  type RuleRecord,
  zonesOf,
} from '../domain/rule/rule.ts'
import { explainCap, mayNameZones } from './positions.ts'
import { ownRules } from './store.ts'

const referencesOf = (record: RuleRecord): Reference[] => [
  { table: devices, what: 'device', pointer: '/devices', ids: record.devices },
  { table: groups, what: 'group', pointer: '/groups', ids: record.groups },
  { table: zones, what: 'zone', pointer: '/when/zones', ids: zonesOf(record.when) },
]

type Changes = Pick<RuleRecord, 'conditionChanged' | 'targetsChanged'>

const columnsOf = (record: RuleRecord, changes: Changes) => ({
  enabled: record.enabled,
  type: record.when.type,
  record: { ...record, ...changes },
})

export const createRule = async (db: Database, creation: Creation<RuleRecord>) => {
  const { accountId, record, now } = creation
  const outcome = await createOwned(db, ownRules, creation, {
    set: { ...columnsOf(record, { conditionChanged: now }), creation: now, lastModified: now },
    references: referencesOf(record),
    condition: sql`(SELECT count(*) FROM ${rules} WHERE ${rules.accountId} = ${accountId})
      < ${MAX_RULES} AND ${mayNameZones({ accountId, before: null, zones: zonesOf(record.when) })}`,
    otherwise: 'rule-cap-reached',
    thereafter: [renewIfChanged(db, accountId)],
  })
  return explainCap(db, accountId, outcome)
}

/** Deletes which devices the rule has found silent. */
const deleteMarks = (db: Database, accountId: string, id: string, isWritten: SQL) =>
  db
    .delete(silentMarks)
    .where(and(eq(silentMarks.ruleId, id), eq(silentMarks.accountId, accountId), isWritten))

export const updateRule = async (db: Database, edit: Edit<Rule, RuleRecord>) => {
  const { accountId, before, record, now } = edit
  const isWritten = sql`EXISTS (SELECT 1 FROM ${rules} WHERE ${ownRules.isOwn(accountId, before.id)}
    AND ${rules.version} = ${before.version + 1} AND ${rules.lastModified} = ${now})`
  const isAnew = beginsAnew(before, record)
  const changes = {
    conditionChanged: isAnew ? now : before.conditionChanged,
    targetsChanged: hasOtherTargets(before, record) ? now : before.targetsChanged,
  }
  const outcome = await updateOwned(db, ownRules, edit, {
    set: { ...columnsOf(record, changes), lastModified: now },
    references: referencesOf(record),
    condition: mayNameZones({
      accountId,
      before: { id: before.id, zones: zonesOf(before.when) },
      zones: zonesOf(record.when),
    }),
    otherwise: 'rule-cap-reached',
    thereafter: [
      renewIfChanged(db, accountId),
      ...(isAnew ? [deleteMarks(db, accountId, before.id, isWritten)] : []),
    ],
  })
  return explainCap(db, accountId, outcome)
}

export const deleteRule = (db: Database, deletion: Deletion) => {
  const { accountId, id } = deletion
  return deleteOwned(db, ownRules, deletion, {
    thereafter: (isGone) => [renewIfChanged(db, accountId), deleteMarks(db, accountId, id, isGone)],
  })
}
