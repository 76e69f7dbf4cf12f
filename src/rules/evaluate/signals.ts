import type { Zone } from '../../domain/geo/zone.ts'
import { type CompiledShape, compileShape, evaluatePlace } from '../../domain/geo/zoneGeometry.ts'
import { type Limits, type Rule, zonesOf } from '../../domain/rule/rule.ts'
import { type Fix, isInRest, readValue } from '../../domain/track/fix.ts'

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

/** How the value at a fix depends on the fixes before it. */
export type Derivation =
  | { type: 'plain' }
  | { type: 'dwell'; ms: number }
  | { type: 'moves'; metres: number }
  | { type: 'stands'; ms: number; metres: number }

export interface Signal {
  rule: Rule
  /** Whether an alert is raised when the signal becomes 1; otherwise when it becomes 0. */
  isRising: boolean
  /** The value at a fix by itself. */
  evaluate: (fix: Fix) => SignalValue
  derivation: Derivation
  /** Where all of these are far away, the value is surely 0. */
  zones: CompiledZone[] | null
  /** The zone that an alert at this fix names. */
  zoneAt: (fix: Fix) => CompiledZone | null
  valueAt: (fix: Fix) => number | null
  /** Nothing before this time raises an alert. */
  since: number
}

/** How far a device may move and still stand, unless the rule's hysteresis is wider. */
export const STANDSTILL_METRES = 100
/** A device moves when it is away from where it was this long ago. */
export const MOVE_MS = 300_000
const MINUTE_MS = 60_000

const toValue = (isTrue: boolean | null): SignalValue => (isTrue === null ? null : isTrue ? 1 : 0)

const invert = (value: SignalValue): SignalValue => (value === null ? null : value === 1 ? 0 : 1)

const marginOf = (rule: Rule, fix: Fix): number =>
  Math.max(fix.accuracy ?? 0, rule.hysteresis.metres)

const valueInZone = (rule: Rule, { shape }: CompiledZone, fix: Fix): SignalValue =>
  toValue(evaluatePlace(shape, fix.latitude, fix.longitude, marginOf(rule, fix)))

/** 1 when in any of the zones, 0 when out of all. */
const valueInAny = (rule: Rule, zones: CompiledZone[], fix: Fix): SignalValue => {
  let result: SignalValue = 0
  for (const zone of zones) {
    const value = valueInZone(rule, zone, fix)
    if (value === 1) return 1
    if (value === null) result = null
  }
  return result
}

const isBeyond = (value: number | null, { above, below }: Limits): SignalValue => {
  if (value === null) return null
  return (above !== undefined && value > above) || (below !== undefined && value < below) ? 1 : 0
}

const speedValue = (rule: Rule, limits: Limits, zones: CompiledZone[], fix: Fix): SignalValue => {
  const fast = isBeyond(fix.speed, limits)
  if (fast === 0 || zones.length === 0) return fast
  const within = valueInAny(rule, zones, fix)
  return within === 0 ? 0 : within === 1 ? fast : null
}

const NO_ZONE = () => null
const NO_VALUE = () => null

/** The signals of a rule. A contact rule has none: the sweep evaluates it. */
export const compileRule = (rule: Rule, zones: ReadonlyMap<string, CompiledZone>): Signal[] => {
  const { when } = rule
  const own = zonesOf(when).flatMap((id) => zones.get(id) ?? [])
  const since = Math.max(rule.lastModified, ...own.map(({ lastModified }) => lastModified))
  const common = { rule, isRising: true, zones: null, zoneAt: NO_ZONE, valueAt: NO_VALUE, since }
  const plain = { type: 'plain' } as const
  switch (when.type) {
    case 'enters':
    case 'leaves':
    case 'inside':
      return own.map((zone) => ({
        ...common,
        isRising: when.type !== 'leaves',
        evaluate: (fix) => valueInZone(rule, zone, fix),
        derivation:
          when.type === 'inside' ? { type: 'dwell', ms: when.minutes * MINUTE_MS } : plain,
        zones: [zone],
        zoneAt: () => zone,
        since: Math.max(rule.lastModified, zone.lastModified),
      }))
    case 'outside': {
      const [only] = own
      return [
        {
          ...common,
          evaluate: (fix) => invert(valueInAny(rule, own, fix)),
          derivation: { type: 'dwell', ms: when.minutes * MINUTE_MS },
          zoneAt: () => (own.length === 1 ? (only ?? null) : null),
        },
      ]
    }
    case 'speed':
      return [
        {
          ...common,
          evaluate: (fix) => speedValue(rule, when, own, fix),
          derivation: plain,
          zoneAt: (fix) => own.find((zone) => valueInZone(rule, zone, fix) === 1) ?? null,
          valueAt: (fix) => fix.speed,
        },
      ]
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
      const metres = Math.max(STANDSTILL_METRES, rule.hysteresis.metres)
      const ms = when.minutes * MINUTE_MS
      return [{ ...common, evaluate: NO_VALUE, derivation: { type: 'stands', ms, metres } }]
    }
    case 'silent':
    case 'returns':
      return []
  }
}

export const compileZone = ({ id, name, lastModified, shape }: Zone): CompiledZone => ({
  id,
  name,
  lastModified,
  shape: compileShape(shape),
})

/** Whether the rule compares a member that has no column. */
export const wantsRest = ({ when }: Rule): boolean => when.type === 'value' && isInRest(when.member)
