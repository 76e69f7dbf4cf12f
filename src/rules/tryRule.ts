import { sql } from 'drizzle-orm'
import { type DeviceRef, isVisibleDevice } from '../db/queries/visibility.ts'
import { json, select } from '../db/query.ts'
import { accounts, devices, groupDevices } from '../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../db/statement.ts'
import { workOfLocations, workOfUnits } from '../domain/account/requestCost.ts'
import { describeOccasion, isForDevice, type Rule, zonesOf } from '../domain/rule/rule.ts'
import { CooldownFilter } from '../domain/rule/ruleCooldown.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'
import { isScheduled } from '../domain/time/schedule.ts'
import { type Fix, toFix } from '../domain/track/fix.ts'
import { acquireLongReply } from '../http/admission/longReply.ts'
import { Slices } from '../http/admission/slices.ts'
import { invalid } from '../http/contract/problem.ts'
import type { ServiceContext } from '../serviceContext.ts'
import { selectZonesOf } from '../zones/store.ts'
import { MAX_TESTED_ALERTS } from './contract.ts'
import { compileZones } from './evaluate/cache.ts'
import { evaluateReport, MAX_TEST_PAIRS } from './evaluate/report.ts'
import { compileRule, withMaxSpeed } from './evaluate/signals.ts'
import { type PageRow, readHistory, type Span } from './history.ts'
import { selectEnabledRules, toRule } from './store.ts'

/* What a rule would have raised, by the same code that evaluates reports. */

const MINUTE_MS = 60_000

const selectContext = compile((p: Placeholders<DeviceRef>) =>
  select(
    {
      timeZone: accounts.timeZone,
      maxSpeed: devices.maxSpeed,
      groups: json<string[]>(sql`(SELECT json_group_array(${groupDevices.groupId})
        FROM ${groupDevices} WHERE ${groupDevices.deviceKey} = ${devices.key})`),
    },
    sql`FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
      WHERE ${isVisibleDevice(p)}`,
  ),
)

interface Occurrence {
  time: number
  fix: Fix | null
  zone: { id: string; name: string } | null
  value: number | null
  /** Whether it is dated since the last change. */
  sinceChange: boolean
}

interface Tested {
  occurrences: Occurrence[]
  /** The last fix that was evaluated when the work reached its limit; otherwise null. */
  testedUntil: number | null
  /** What it has cost, in the units of slices. */
  units: number
}

/** What reading a fix out of its row takes. */
const FIX_UNITS = 0.5
/** About two seconds of CPU time, in slices. */
const MAX_TEST_UNITS = 2_000_000

interface TestContext {
  timeZone: string
  maxSpeed: number
  zones: Parameters<typeof compileRule>[1]
  slices: Slices
}

const evaluateHistory = async (
  rule: Rule,
  rows: PageRow[],
  { timeZone, maxSpeed, zones, slices }: TestContext,
): Promise<Tested> => {
  const fixes: Fix[] = []
  for (const row of rows) {
    fixes.push(toFix(row))
    const turn = slices.spend(FIX_UNITS)
    if (turn) await turn
  }
  const signals = compileRule(rule, zones).map((signal) => withMaxSpeed(signal, maxSpeed))
  const whole = { from: 0, to: Number.MAX_SAFE_INTEGER, stored: [], isStart: true, isEnd: true }
  const budget = { left: MAX_TEST_PAIRS }
  const options = { timeZone, maxUnits: MAX_TEST_UNITS, includesEarlier: true, budget }
  const found = await slices.run(evaluateReport(signals, [whole], fixes, options))
  const occurrences = found.hits.map(({ signal, fix, zone, value }) => {
    const sinceChange = fix.time >= signal.since
    return { time: fix.time, fix, zone, value, sinceChange }
  })
  return { occurrences, testedUntil: found.stoppedAt, units: slices.spent }
}

interface ContactSpan {
  minutes: number
  /** The end of the history: a silence may last beyond it. */
  end: number
  isScheduled: (time: number) => boolean
}

/** When contacts were more than `minutes` apart: when that was found, or the returns. */
const evaluateContacts = (
  { when, lastModified, conditionChanged }: Rule,
  rows: PageRow[],
  { minutes, end, isScheduled: isInForce }: ContactSpan,
): Occurrence[] => {
  const byArrival = [...rows].sort((a, b) => a.receivedAt - b.receivedAt)
  return byArrival.flatMap((row, index) => {
    const next = byArrival[index + 1]
    const silentAt = row.receivedAt + minutes * MINUTE_MS
    if (next ? next.receivedAt <= silentAt : silentAt > end) return []
    const [time, last] = when.type === 'silent' ? [silentAt, row] : [next?.receivedAt, next]
    if (time === undefined || !last || !isInForce(time)) return []
    // A silence that lasts is raised when the rule begins to watch.
    const isRaised = conditionChanged !== undefined && when.type === 'silent'
    const sinceChange = isRaised
      ? (next?.receivedAt ?? Number.POSITIVE_INFINITY) > conditionChanged
      : time >= lastModified
    return [{ time, fix: toFix(last), zone: null, value: null, sinceChange }]
  })
}

/** `returns` follows the account's shortest rule about silence that is for the device. */
const silenceMinutes = (
  rule: Rule,
  enabled: Rule[],
  device: { id: string; groups: string[] },
): number | null => {
  if (rule.when.type === 'silent') return rule.when.minutes
  const minutes = enabled.flatMap((other) => {
    const isFor = isForDevice(other, device.id, device.groups)
    return other.when.type === 'silent' && isFor ? [other.when.minutes] : []
  })
  return minutes.length === 0 ? null : Math.min(...minutes)
}

export const tryRule = async (context: ServiceContext, rule: Rule, span: Span) => {
  const { db, accountId } = context
  const device = { accountId, groupId: null, deviceId: span.deviceId }
  const { found, zoneRows, enabled } = await runBatch(db, {
    found: selectContext(db, device),
    zoneRows: selectZonesOf(db, { accountId, ids: JSON.stringify(zonesOf(rule.when)) }),
    enabled: selectEnabledRules(db, { accountId }),
  })
  const [account] = found.results
  if (!account) throw invalid({ pointer: '/deviceId', detail: 'is not a device of this account' })
  const { timeZone, maxSpeed, groups } = account
  const slot = acquireLongReply(accountId)
  try {
    const rows = await readHistory(context, rule, span, slot)
    const slices = new Slices(accountId)
    const compiled = await compileZones(zoneRows.results, slices)
    const zones = new Map(compiled.map((zone) => [zone.id, zone]))
    const isContact = rule.when.type === 'silent' || rule.when.type === 'returns'
    const minutes = isContact
      ? silenceMinutes(rule, enabled.results.map(toRule), { id: span.deviceId, groups })
      : null
    const { occurrences, testedUntil, units } = !isContact
      ? await evaluateHistory(rule, rows, { timeZone, maxSpeed, zones, slices })
      : {
          ...{ testedUntil: null, units: 0 },
          occurrences:
            minutes === null
              ? []
              : evaluateContacts(rule, rows, {
                  minutes,
                  end: Math.min(span.to, context.now()),
                  isScheduled: (time) => isScheduled(rule.schedule, time, timeZone),
                }),
        }
    return {
      alerts: presentOccurrences(rule, span.deviceId, occurrences),
      testedUntil: isoOrNull(testedUntil),
      workMs: workOfUnits(units) + workOfLocations(rows.length),
    }
  } finally {
    slot.release()
  }
}

const presentOccurrences = (rule: Rule, deviceId: string, occurrences: Occurrence[]) => {
  const { id: ruleId, when, alertName, text, emergency, cooldownMinutes } = rule
  const cooldown = new CooldownFilter(cooldownMinutes)
  return occurrences
    .filter(({ time, zone }) => cooldown.admit(zone?.id ?? null, time))
    .slice(0, MAX_TESTED_ALERTS)
    .map(({ time, fix, zone, value, sinceChange }) => ({
      deviceId,
      dateTime: iso(time),
      latitude: fix?.latitude ?? null,
      longitude: fix?.longitude ?? null,
      text:
        text ||
        describeOccasion({
          when,
          zoneName: zone?.name ?? null,
          value,
          isComputed: fix?.speed === null,
        }),
      alerts: [alertName],
      emergency,
      ruleId,
      zoneId: zone?.id ?? null,
      sinceChange,
    }))
}
