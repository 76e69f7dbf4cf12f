import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { select } from '../../db/query.ts'
import { accounts, rules, zones } from '../../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../../db/statement.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import type { Zone } from '../../domain/geo/zone.ts'
import { compiledBytes } from '../../domain/geo/zoneGeometry.ts'
import { isContactRule, type Rule } from '../../domain/rule/rule.ts'
import type { Slices } from '../../http/admission/slices.ts'
import { ZONE_COLUMNS } from '../../zones/store.ts'
import { selectEnabledRules, toRule } from '../store.ts'
import {
  type CompiledZone,
  comparedMembers,
  compileRule,
  compileZone,
  type Signal,
} from './signals.ts'

/* The rules of accounts as this isolate has compiled them, by the token that reports check. */

export interface CompiledRule {
  rule: Rule
  signals: Signal[]
}

export interface CompiledRules {
  /** Null without rules for reports. */
  version: string | null
  rules: CompiledRule[]
  /** The members without a column that rules compare. */
  members: string[]
  /** Whether rules are about stays. */
  hasStays: boolean
  bytes: number
}

/** Of an account without rules for reports. */
export const NO_RULES: CompiledRules = {
  version: null,
  rules: [],
  members: [],
  hasStays: false,
  bytes: 0,
}

export const MAX_CACHE_BYTES = 16_000_000
const RULE_BYTES = 2000
const SIGNAL_BYTES = 500

/** By account. */
export const ruleCache = new BoundedCache<CompiledRules>(MAX_CACHE_BYTES, ({ bytes }) => bytes)

type OfAccount = Placeholders<{ accountId: string }>

const selectVersion = compile((p: OfAccount) =>
  select(
    { rulesVersion: accounts.rulesVersion },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
  ),
)

/** The zones that rules in force name. */
const selectUsedZones = compile((p: OfAccount) =>
  select(
    ZONE_COLUMNS,
    sql`FROM ${zones} WHERE ${zones.accountId} = ${p.accountId} AND ${zones.id} IN (
      SELECT used.value FROM ${rules}, json_each(${rules.record}, '$.when.zones') used
      WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1)`,
  ),
)

/** Compiling takes about a microsecond for so many bytes of what it makes. */
const BYTES_PER_UNIT = 30

/** In slices: an account may have zones of 100,000 positions. */
export const compileZones = async (rows: Zone[], slices: Slices): Promise<CompiledZone[]> => {
  const compiled: CompiledZone[] = []
  for (const row of rows) {
    const zone = compileZone(row)
    compiled.push(zone)
    await slices.spend(compiledBytes(zone.shape) / BYTES_PER_UNIT)
  }
  return compiled
}

const readRules = async (
  db: Database,
  accountId: string,
  slices: Slices,
): Promise<CompiledRules> => {
  const { versions, ruleRows, zoneRows } = await runBatch(db, {
    versions: selectVersion(db, { accountId }),
    ruleRows: selectEnabledRules(db, { accountId }),
    zoneRows: selectUsedZones(db, { accountId }),
  })
  const compiledZones = await compileZones(zoneRows.results, slices)
  const byId = new Map(compiledZones.map((zone) => [zone.id, zone]))
  const inForce = ruleRows.results.map(toRule).filter((rule) => !isContactRule(rule))
  const zoneBytes = compiledZones.reduce((sum, { shape }) => sum + compiledBytes(shape), 0)
  const compiled = inForce.map((rule) => ({ rule, signals: compileRule(rule, byId) }))
  const signalBytes = compiled.reduce((sum, { signals }) => sum + SIGNAL_BYTES * signals.length, 0)
  return {
    version: versions.results[0]?.rulesVersion ?? null,
    rules: compiled,
    members: [...new Set(inForce.flatMap(comparedMembers))],
    hasStays: compiled.some(({ signals }) => signals.some(({ stay }) => stay !== null)),
    bytes: zoneBytes + signalBytes + RULE_BYTES * (1 + inForce.length),
  }
}

/** The rules with this token or, when they have changed meanwhile, with their new one. */
export const loadRules = async (
  db: Database,
  accountId: string,
  version: string,
  slices: Slices,
): Promise<CompiledRules> => {
  const known = ruleCache.get(accountId)
  if (known?.version === version) return known
  const compiled = await readRules(db, accountId, slices)
  ruleCache.set(accountId, compiled)
  return compiled
}
