import { DEFAULT_MAX_SPEED } from '../../domain/account/device.ts'
import type { Zone } from '../../domain/geo/zone.ts'
import { type CompiledShape, compileShape } from '../../domain/geo/zoneGeometry.ts'
import { type Limits, type Rule, watchesSince, zonesOf } from '../../domain/rule/rule.ts'
import { type Fix, isInRest, readValue } from '../../domain/track/fix.ts'
import { stayName } from './stays.ts'
import type { ZonesAtFix } from './zonesAtFix.ts'

/*
 * A rule as signals: functions of the track that are 1, 0 or undecided at each fix. A crossing is a
 * change of a signal between decided fixes.
 */

/** Null is undecided. */
export type SignalValue = 0 | 1 | null

export interface CompiledZone {
  id: string
  name: string
  lastModified: number
  shape: CompiledShape
}

/** In km/h. A computed speed above `maxSpeed` is not credible; 0 means that any is. */
export interface SpeedLimits extends Limits {
  maxSpeed: number
}

/** How the value at a fix depends on the fixes before it. */
export type Derivation =
  | { type: 'plain' }
  | { type: 'dwell'; ms: number }
  | { type: 'moves'; metres: number }
  /** The value by itself says whether a fix is in the zones. */
  | { type: 'speed'; limits: SpeedLimits }
  | { type: 'stands'; ms: number; metres: number }

export interface Signal {
  rule: Rule
  /** Whether an alert is raised when the signal becomes 1; otherwise when it becomes 0. */
  isRising: boolean
  /** Signals with the same key have the same values. */
  key: string
  /** The value at a fix by itself. */
  evaluate: (fix: Fix, zones: ZonesAtFix) => SignalValue
  derivation: Derivation
  /** Names the stay that it is about; null without one. */
  stay: string | null
  /** Where all of these are far away, the value is surely 0. */
  zones: CompiledZone[] | null
  /** The zone that an alert at this fix names. */
  zoneAt: (fix: Fix, zones: ZonesAtFix) => CompiledZone | null
  valueAt: (fix: Fix) => number | null
  /** Nothing before this time raises an alert. */
  since: number
  /** From when on a value of 1 is a crossing though it was 1 before; null for no such time. */
  startsAt: number | null
}

/** How far a device may move and still stand, unless the rule's hysteresis is wider. */
export const STANDSTILL_METRES = 100
/** A device moves when it is away from where it was this long ago. */
export const MOVE_MS = 300_000
const MINUTE_MS = 60_000

const invert = (value: SignalValue): SignalValue => (value === null ? null : value === 1 ? 0 : 1)

/** 1 when in any of the zones, 0 when out of all. */
const valueInAny = (rule: Rule, own: CompiledZone[], fix: Fix, zones: ZonesAtFix): SignalValue => {
  let result: SignalValue = 0
  for (const zone of own) {
    const value = zones.valueIn(zone, fix, rule.hysteresis.metres)
    if (value === 1) return 1
    if (value === null) result = null
  }
  return result
}

export const isBeyond = (value: number | null, { above, below }: Limits): SignalValue => {
  if (value === null) return null
  return (above !== undefined && value > above) || (below !== undefined && value < below) ? 1 : 0
}

/** The value where a fix is in the zones of the rule, otherwise 0. */
export const restrictTo = (value: SignalValue, within: SignalValue): SignalValue =>
  value === 0 || within === 1 ? value : within

const NO_ZONE = () => null
const NO_VALUE = () => null

/** The signals of a rule. A contact rule has none: the sweep evaluates it. */
export const compileRule = (rule: Rule, zones: ReadonlyMap<string, CompiledZone>): Signal[] => {
  const { when } = rule
  const own = zonesOf(when).flatMap((id) => zones.get(id) ?? [])
  const since = Math.max(rule.lastModified, ...own.map(({ lastModified }) => lastModified))
  const { hysteresis } = rule
  const startsAt = watchesSince(rule)
  const key = JSON.stringify([when, hysteresis, startsAt])
  const common = {
    ...{ rule, key, since, startsAt, isRising: true },
    ...{ zones: null, zoneAt: NO_ZONE, valueAt: NO_VALUE, stay: null },
  }
  const plain = { type: 'plain' } as const
  switch (when.type) {
    case 'enters':
    case 'leaves':
    case 'inside':
      return own.map((zone) => ({
        ...common,
        // Whoever is in a zone has not come into it by that.
        startsAt: when.type === 'inside' ? startsAt : null,
        key: JSON.stringify([
          ...[zone.id, hysteresis],
          ...(when.type === 'inside' ? [when.minutes, startsAt] : []),
        ]),
        isRising: when.type !== 'leaves',
        evaluate: (fix, at) => at.valueIn(zone, fix, hysteresis.metres),
        derivation:
          when.type === 'inside' ? { type: 'dwell', ms: when.minutes * MINUTE_MS } : plain,
        stay: when.type === 'inside' ? stayName(common, [zone]) : null,
        zones: [zone],
        zoneAt: () => zone,
        since: Math.max(rule.lastModified, zone.lastModified),
      }))
    case 'outside': {
      const [only] = own
      return [
        {
          ...common,
          evaluate: (fix, at) => invert(valueInAny(rule, own, fix, at)),
          derivation: { type: 'dwell', ms: when.minutes * MINUTE_MS },
          stay: stayName(common, own),
          zoneAt: () => (own.length === 1 ? (only ?? null) : null),
        },
      ]
    }
    case 'speed': {
      const isWithin = (fix: Fix, at: ZonesAtFix): SignalValue =>
        own.length === 0 ? 1 : valueInAny(rule, own, fix, at)
      return [
        {
          ...common,
          evaluate: (fix, at) => {
            if (when.computed) return isWithin(fix, at)
            const fast = isBeyond(fix.speed, when)
            return fast === 0 ? 0 : restrictTo(fast, isWithin(fix, at))
          },
          derivation: when.computed
            ? { type: 'speed', limits: { ...when, maxSpeed: DEFAULT_MAX_SPEED } }
            : plain,
          zoneAt: (fix, at) =>
            own.find((zone) => at.valueIn(zone, fix, hysteresis.metres) === 1) ?? null,
          valueAt: (fix) => fix.speed,
        },
      ]
    }
    case 'value':
      return [
        {
          ...common,
          evaluate: (fix) => isBeyond(readValue(fix, when.member), when),
          derivation: plain,
          valueAt: (fix) => readValue(fix, when.member),
        },
      ]
    case 'moves':
      return [{ ...common, evaluate: NO_VALUE, derivation: { type: 'moves', metres: when.metres } }]
    case 'stands': {
      const metres = Math.max(STANDSTILL_METRES, hysteresis.metres)
      const ms = when.minutes * MINUTE_MS
      const stay = stayName(common, [])
      return [{ ...common, evaluate: NO_VALUE, derivation: { type: 'stands', ms, metres }, stay }]
    }
    case 'silent':
    case 'returns':
      return []
  }
}

/** The signal for a device with this limit of credible speeds. */
export const withMaxSpeed = (signal: Signal, maxSpeed: number): Signal => {
  const { derivation } = signal
  if (derivation.type !== 'speed' || derivation.limits.maxSpeed === maxSpeed) return signal
  return { ...signal, derivation: { ...derivation, limits: { ...derivation.limits, maxSpeed } } }
}

export const compileZone = ({ id, name, lastModified, shape }: Zone): CompiledZone => ({
  id,
  name,
  lastModified,
  shape: compileShape(shape),
})

/** The member without a column that the rule compares. */
export const comparedMembers = ({ when }: Rule): string[] =>
  when.type === 'value' && isInRest(when.member) ? [when.member] : []
