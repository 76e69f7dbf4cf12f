import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_MAX_SPEED } from '../../../src/domain/account/device.ts'
import { distanceMetres } from '../../../src/domain/geo/geodesy.ts'
import { compileShape } from '../../../src/domain/geo/zoneGeometry.ts'
import type { Rule, RuleCondition, RuleRecord } from '../../../src/domain/rule/rule.ts'
import { type Fix, pickCompared } from '../../../src/domain/track/fix.ts'
import type { Segment } from '../../../src/rules/evaluate/crossings.ts'
import type { Hit } from '../../../src/rules/evaluate/foundHits.ts'
import {
  evaluateReport as evaluateInSteps,
  MAX_REPORT_PAIRS,
  MAX_TEST_PAIRS,
  WINDOW_SIZES,
} from '../../../src/rules/evaluate/report.ts'
import {
  type CompiledZone,
  compileRule,
  type Signal,
  withMaxSpeed,
} from '../../../src/rules/evaluate/signals.ts'

/** All steps at once. */
const evaluateReport = (...given: Parameters<typeof evaluateInSteps>) => {
  const steps = evaluateInSteps(...given)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 14)

const ruleOf = (
  when: RuleCondition,
  more: Partial<RuleRecord> & { lastModified?: number } = {},
): Rule => ({
  id: 'rul_1',
  name: 'A rule',
  enabled: true,
  devices: [],
  groups: [],
  when,
  schedule: [],
  alertName: 'Test',
  text: '',
  notifications: [],
  emergency: false,
  hysteresis: { metres: 0, fixes: 1 },
  cooldownMinutes: 0,
  lateMinutes: 60,
  creation: 0,
  lastModified: 0,
  version: 1,
  ...more,
})

/** A circle of 1 km at 0, 0. */
const harbour: CompiledZone = {
  id: 'zon_1',
  name: 'Harbour',
  lastModified: 0,
  shape: compileShape({ type: 'Circle', center: [0, 0], radius: 1000 }),
}
const zones = new Map([[harbour.id, harbour]])
const signalsOf = (rule: Rule): Signal[] => compileRule(rule, zones)

const fixAt = (minute: number, more: Partial<Fix> = {}): Fix => ({
  time: START + minute * MINUTE,
  latitude: 0,
  longitude: 0,
  altitude: null,
  speed: null,
  course: null,
  accuracy: null,
  battery: null,
  rest: null,
  ...more,
})

type State = 'in' | 'out' | 'unknown'
const PLACES: Record<State, Partial<Fix>> = {
  in: { longitude: 0.001 },
  out: { longitude: 0.1 },
  unknown: { longitude: 0.005, accuracy: 5000 },
}
const stateAt = (minute: number, state: State): Fix => fixAt(minute, PLACES[state])

/** A store of one track that evaluates rules as the service does. */
class Track {
  stored: Fix[] = []
  readonly hits: Hit[] = []
  readonly #signals: Signal[]
  readonly #timeZone: string
  reads = 0

  constructor(rule: Rule, timeZone = 'UTC', maxSpeed = DEFAULT_MAX_SPEED) {
    this.#signals = signalsOf(rule).map((signal) => withMaxSpeed(signal, maxSpeed))
    this.#timeZone = timeZone
  }

  #read(first: number, last: number, before: number, after: number): Segment {
    this.reads++
    const earlier = this.stored.filter(({ time }) => time < first)
    const later = this.stored.filter(({ time }) => time > last)
    const within = this.stored.filter(({ time }) => time >= first && time <= last)
    const stored = [...earlier.slice(-before), ...within, ...later.slice(0, after)]
    return {
      from: first,
      to: last,
      stored,
      isStart: earlier.length <= before,
      isEnd: later.length <= after,
    }
  }

  report(fixes: Fix[]): Hit[] {
    const known = new Set(this.stored.map(({ time }) => time))
    const added = fixes.filter(({ time }) => !known.has(time) && known.add(time))
    added.sort((a, b) => a.time - b.time)
    const [first, last] = [added[0], added.at(-1)]
    if (!first || !last) return []
    let [before, after] = [0, 0]
    for (;;) {
      const sizes = [WINDOW_SIZES[before] ?? 0, WINDOW_SIZES[after] ?? 0] as const
      const segment = this.#read(first.time, last.time, ...sizes)
      const found = evaluateReport(this.#signals, [segment], added, {
        timeZone: this.#timeZone,
      })
      const more = found.needsBefore && before < WINDOW_SIZES.length - 1
      const ahead = found.needsAfter && after < WINDOW_SIZES.length - 1
      if (more) before++
      if (ahead) after++
      if (more || ahead) continue
      this.stored = [...this.stored, ...added].sort((a, b) => a.time - b.time)
      this.hits.push(...found.hits)
      return found.hits
    }
  }
}

/** The crossings of a whole track, decided fix by decided fix. */
const modelCrossings = (states: { minute: number; state: State }[]) => {
  const entered: number[] = []
  const left: number[] = []
  let before: State | null = null
  for (const { minute, state } of states) {
    if (state === 'unknown') continue
    if (before === 'out' && state === 'in') entered.push(minute)
    if (before === 'in' && state === 'out') left.push(minute)
    before = state
  }
  return { entered, left }
}

const minutesOf = (hits: Hit[]) => hits.map(({ fix }) => (fix.time - START) / MINUTE)

const ENTERS = ruleOf({ type: 'enters', zones: ['zon_1'] })
const LEAVES = ruleOf({ type: 'leaves', zones: ['zon_1'] })

const states = fc.constantFrom<State>('in', 'in', 'out', 'out', 'unknown')
const tracks = fc.array(states, { minLength: 1, maxLength: 60 })

describe('crossings', () => {
  test('in order are raised at their fixes, one report or many', () => {
    fc.assert(
      fc.property(tracks, fc.integer({ min: 1, max: 20 }), (track, size) => {
        const model = modelCrossings(track.map((state, minute) => ({ minute, state })))
        for (const [rule, expected] of [
          [ENTERS, model.entered],
          [LEAVES, model.left],
        ] as const) {
          const store = new Track(rule)
          for (let i = 0; i < track.length; i += size)
            store.report(track.slice(i, i + size).map((state, at) => stateAt(i + at, state)))
          expect(minutesOf(store.hits)).toEqual(expected)
        }
      }),
      { numRuns: 3000 },
    )
  })

  test('in any order are raised as often as the track has them', () => {
    const arrivals = fc
      .record({
        track: tracks,
        keys: fc.array(fc.double({ noNaN: true }), { minLength: 60, maxLength: 60 }),
      })
      .map(({ track, keys }) =>
        track
          .map((state, minute) => ({ minute, state, key: keys[minute] ?? 0 }))
          .sort((a, b) => a.key - b.key),
      )
    const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(arrivals, sizes, (fixes, counts) => {
        const inOrder = [...fixes].sort((a, b) => a.minute - b.minute)
        const model = modelCrossings(inOrder)
        for (const [rule, expected] of [
          [ENTERS, model.entered],
          [LEAVES, model.left],
        ] as const) {
          const store = new Track(rule)
          let at = 0
          for (const count of counts) {
            store.report(
              fixes.slice(at, at + count).map(({ minute, state }) => stateAt(minute, state)),
            )
            at += count
          }
          // A repeated report raises nothing.
          store.report(fixes.slice(0, 10).map(({ minute, state }) => stateAt(minute, state)))
          expect(store.hits).toHaveLength(expected.length)
        }
      }),
      { numRuns: 6000 },
    )
  })

  test('between equal neighbours are all raised, between different ones all but the last', () => {
    const store = new Track(ENTERS)
    store.report([stateAt(0, 'out'), stateAt(10, 'out'), stateAt(20, 'in')])
    expect(minutesOf(store.hits)).toEqual([20])
    // Late, between out and out.
    expect(minutesOf(store.report([stateAt(5, 'in')]))).toEqual([5])
    // Late, between out and in, which was raised.
    expect(minutesOf(store.report([stateAt(15, 'in')]))).toEqual([])
    expect(minutesOf(store.report([stateAt(17, 'out')]))).toEqual([20])
  })

  test('look back only as far as undecided fixes make it necessary', () => {
    const store = new Track(ENTERS)
    store.report([stateAt(0, 'out')])
    store.report(Array.from({ length: 50 }, (_, index) => stateAt(index + 1, 'unknown')))
    store.reads = 0
    store.report([stateAt(60, 'unknown')])
    expect(store.reads).toBe(1)
    expect(minutesOf(store.report([stateAt(61, 'in')]))).toEqual([61])
    expect(store.reads).toBe(3)
  })

  test('before the last change of the rule or the zone are not raised', () => {
    const changed = START + 15 * MINUTE
    const fixes = [stateAt(0, 'out'), stateAt(10, 'in'), stateAt(20, 'out'), stateAt(30, 'in')]
    const store = new Track({ ...ENTERS, lastModified: changed })
    expect(minutesOf(store.report(fixes))).toEqual([30])
  })
})

describe('hysteresis', () => {
  test('wants as many fixes in a row to agree', () => {
    const rule = { ...ENTERS, hysteresis: { metres: 0, fixes: 3 } }
    const track: State[] = [
      'out',
      'out',
      'out',
      'in',
      'out',
      'in',
      'in',
      'unknown',
      'in',
      'out',
      'in',
    ]
    for (const size of [1, 2, 11]) {
      const store = new Track(rule)
      for (let i = 0; i < track.length; i += size)
        store.report(track.slice(i, i + size).map((state, at) => stateAt(i + at, state)))
      expect(minutesOf(store.hits)).toEqual([8])
    }
  })

  test('is raised for leaving too, however far the device is by then', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(states, fc.integer({ min: 1, max: 9 })), { maxLength: 20 }),
        fc.integer({ min: 2, max: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (runs, count, size) => {
          const track = runs.flatMap(([state, length]) => Array<State>(length).fill(state))
          // A state holds once so many decided fixes in a row have it.
          let [last, run] = ['unknown' as State, 0]
          const agreed = track.map((state, minute): { minute: number; state: State } => {
            if (state === 'unknown') return { minute, state }
            run = state === last ? run + 1 : 1
            last = state
            return { minute, state: run >= count ? state : 'unknown' }
          })
          const model = modelCrossings(agreed)
          for (const [rule, expected] of [
            [ENTERS, model.entered],
            [LEAVES, model.left],
          ] as const) {
            const store = new Track({ ...rule, hysteresis: { metres: 0, fixes: count } })
            for (let i = 0; i < track.length; i += size)
              store.report(track.slice(i, i + size).map((state, at) => stateAt(i + at, state)))
            expect(minutesOf(store.hits)).toEqual(expected)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('in metres leaves fixes near the border undecided', () => {
    const rule = { ...ENTERS, hysteresis: { metres: 300, fixes: 1 } }
    const store = new Track(rule)
    // The border is at 0.00898 degrees.
    store.report([
      stateAt(0, 'out'),
      fixAt(1, { longitude: 0.0085 }),
      fixAt(2, { longitude: 0.0095 }),
    ])
    expect(store.hits).toEqual([])
    expect(minutesOf(store.report([fixAt(3, { longitude: 0.005 })]))).toEqual([3])
  })
})

describe('durations', () => {
  /** When a stay reaches its minutes, for each stay of the track. */
  const modelStays = (track: State[], wanted: State, minutes: number): number[] => {
    const raised: number[] = []
    let since: number | null = null
    let isTold = false
    for (const [minute, state] of track.entries()) {
      if (state === 'unknown') continue
      if (state !== wanted) {
        since = null
        isTold = false
        continue
      }
      since ??= minute
      if (!isTold && minute - since >= minutes) {
        raised.push(minute)
        isTold = true
      }
    }
    return raised
  }

  test('of stays inside and outside are raised once each', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(states, fc.integer({ min: 1, max: 12 })), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 1, max: 9 }),
        (runs, minutes, size) => {
          const track = runs.flatMap(([state, length]) => Array<State>(length).fill(state))
          for (const [type, state] of [
            ['inside', 'in'],
            ['outside', 'out'],
          ] as const) {
            const store = new Track(ruleOf({ type, zones: ['zon_1'], minutes }))
            for (let i = 0; i < track.length; i += size)
              store.report(track.slice(i, i + size).map((each, at) => stateAt(i + at, each)))
            expect(minutesOf(store.hits)).toEqual(modelStays(track, state, minutes))
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('are raised when a late fix makes a stay longer', () => {
    const store = new Track(ruleOf({ type: 'inside', zones: ['zon_1'], minutes: 30 }))
    store.report([
      stateAt(0, 'out'),
      ...[60, 65, 66, 67, 68, 69, 80].map((at) => stateAt(at, 'in')),
    ])
    expect(store.hits).toEqual([])
    expect(minutesOf(store.report([stateAt(45, 'in')]))).toEqual([80])
    expect(minutesOf(store.report([stateAt(95, 'in')]))).toEqual([])
  })

  test('are raised late though single fixes disagree with the hysteresis', () => {
    const when: RuleCondition = { type: 'inside', zones: ['zon_1'], minutes: 30 }
    const store = new Track(ruleOf(when, { hysteresis: { metres: 0, fixes: 2 } }))
    const later = Array.from({ length: 19 }, (_, at) => stateAt(67 + at, 'in'))
    store.report([
      ...[stateAt(0, 'out'), stateAt(1, 'out')],
      ...[stateAt(60, 'in'), stateAt(61, 'in'), stateAt(65, 'in'), stateAt(66, 'out')],
      ...later,
    ])
    expect(store.hits).toEqual([])
    expect(minutesOf(store.report([stateAt(50, 'in'), stateAt(51, 'in')]))).toEqual([81])
  })

  const HALF_HOUR = signalsOf(ruleOf({ type: 'inside', zones: ['zon_1'], minutes: 30 }))
  const insideAt = (minutes: number[]) => minutes.map((minute) => stateAt(minute, 'in'))

  test.each([true, false])('are not raised again by a late fix in a stay that is over', (isEnd) => {
    const stored = [...insideAt([0, 10, 20, 29]), stateAt(31, 'out'), stateAt(32, 'out')]
    const [from, to] = [START, isEnd ? 9e15 : START + 32 * MINUTE]
    const segment: Segment = { from, to, stored, isStart: false, isEnd }
    const late = [stateAt(30, 'in')]
    const { hits, needsBefore } = evaluateReport(HALF_HOUR, [segment], late, { timeZone: 'UTC' })
    expect([minutesOf(hits), needsBefore]).toEqual([[], true])
  })

  test.each([34, 36])('are not raised again by an earlier beginning, read up to %i', (last) => {
    const stored = [stateAt(0, 'out'), ...insideAt([10, 20, 30, last])]
    const to = START + last * MINUTE
    const segment: Segment = { from: 0, to, stored, isStart: true, isEnd: false }
    const known = START + 10 * MINUTE
    const options = { timeZone: 'UTC', stays: new Map([[HALF_HOUR[0]?.stay ?? '', known]]) }
    const found = evaluateReport(HALF_HOUR, [segment], [stateAt(5, 'in')], options)
    expect([minutesOf(found.hits), found.needsAfter]).toEqual([[], true])
    expect(found.stays.at(-1)).toMatchObject({ since: known, isSure: true })
  })

  test('of standing still count from the place where the device is', () => {
    const store = new Track(ruleOf({ type: 'stands', minutes: 20 }))
    const place = (minute: number, east: number) => fixAt(minute, { longitude: east / 111_320 })
    for (const [minute, east] of [
      [0, 0],
      [10, 5000],
      [20, 5030],
      [30, 5010],
      [40, 4990],
      [50, 9000],
      [60, 9010],
    ] as const)
      store.report([place(minute, east)])
    expect(minutesOf(store.hits)).toEqual([30])
    expect(minutesOf(store.report([place(75, 9020)]))).toEqual([75])
  })
})

describe('standing still', () => {
  const evaluate = (fixes: Fix[], minutes: number) => {
    const whole = { from: 0, to: 9e15, stored: [], isStart: true, isEnd: true }
    const signals = signalsOf(ruleOf({ type: 'stands', minutes }))
    return minutesOf(evaluateReport(signals, [whole], fixes, { timeZone: 'UTC' }).hits)
  }

  test('is found wherever every fix of the time before is near', () => {
    const step = fc.record({
      north: fc.integer({ min: -40, max: 40 }),
      jump: fc.integer({ min: 0, max: 300 }).map((value) => (value === 0 ? 5000 : 0)),
      accuracy: fc.constantFrom(null, null, 20, 6000),
    })
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 100, maxLength: 400 }),
        fc.integer({ min: 1, max: 250 }),
        (steps, minutes) => {
          let base = 0
          const fixes = steps.map(({ north, jump, accuracy }, minute) => {
            base += jump
            return fixAt(minute, { latitude: (base + north) / 111_320, accuracy })
          })
          const isNear = (a: Fix, b: Fix) =>
            Math.abs(a.latitude - b.latitude) * 110_574 -
              Math.max(a.accuracy ?? 0, b.accuracy ?? 0) <=
            100
          const precise = fixes.filter(({ accuracy }) => (accuracy ?? 0) <= 100)
          const values = precise.map((fix, index) => {
            const first = precise.findLastIndex(({ time }) => time <= fix.time - minutes * MINUTE)
            return first >= 0 && precise.slice(first, index).every((other) => isNear(other, fix))
          })
          const expected = precise.flatMap(({ time }, index) =>
            values[index] && values[index - 1] === false ? [(time - START) / MINUTE] : [],
          )
          expect(evaluate(fixes, minutes)).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })

  /** At 60 km/h, every 10 s; every sixth is imprecise. */
  const drive = (seconds: number) =>
    Array.from({ length: seconds / 10 }, (_, index) =>
      fixAt(index / 6, {
        latitude: (index * 10 * 60) / 3.6 / 110_574,
        accuracy: index % 6 === 5 ? 10_000 : null,
      }),
    )

  test.each([1, 7, 360])('is not what an imprecise fix of a drive says, %i a report', (size) => {
    const fixes = drive(3600)
    for (const minutes of [1, 5]) {
      const store = new Track(ruleOf({ type: 'stands', minutes }))
      for (let i = 0; i < fixes.length; i += size) store.report(fixes.slice(i, i + size))
      expect(store.hits).toEqual([])
      expect(evaluate(fixes, minutes)).toEqual([])
    }
  })

  test('is neither begun, prolonged nor ended by an imprecise fix', () => {
    const imprecise = (minute: number, north: number) =>
      fixAt(minute, { latitude: north / 110_574, accuracy: 10_000 })
    const begins = [fixAt(0, { latitude: 1 }), imprecise(5, 0), fixAt(10), fixAt(20), fixAt(30)]
    expect(evaluate(begins, 20)).toEqual([30])
    const prolongs = [fixAt(0, { latitude: 1 }), fixAt(10), fixAt(20), imprecise(31, 0)]
    expect(evaluate(prolongs, 20)).toEqual([])
    const ends = [fixAt(0), fixAt(10), fixAt(20), imprecise(25, 50_000), fixAt(30), fixAt(60)]
    expect(evaluate(ends, 20)).toEqual([20])
  })

  test('is found as without the imprecise fixes, in any order of arrival', () => {
    const arrivals = fc
      .array(
        fc.record({
          north: fc.constantFrom(0, 0, 0, 0, 30, 5000),
          accuracy: fc.constantFrom(null, 20, 6000),
          key: fc.double({ noNaN: true }),
        }),
        { minLength: 2, maxLength: 40 },
      )
      .map((list) =>
        list
          .map(({ north, accuracy, key }, minute) => ({
            fix: fixAt(minute, { latitude: north / 110_574, accuracy }),
            key,
          }))
          .sort((a, b) => a.key - b.key)
          .map(({ fix }) => fix),
      )
    const isPrecise = ({ accuracy }: Fix) => accuracy !== 6000
    fc.assert(
      fc.property(
        arrivals,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 9 }),
        (fixes, minutes, size) => {
          const rule = ruleOf({ type: 'stands', minutes })
          const [all, precise] = [new Track(rule), new Track(rule)]
          for (let i = 0; i < fixes.length; i += size) {
            all.report(fixes.slice(i, i + size))
            precise.report(fixes.slice(i, i + size).filter(isPrecise))
          }
          expect(minutesOf(all.hits)).toEqual(minutesOf(precise.hits))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('is evaluated only so far where it is too much work', () => {
    // As far apart as a place allows, so that all have to be compared.
    const fixes = Array.from({ length: 20_000 }, (_, index) => {
      const degrees = index % 2 ? 0.000635 : 0
      return fixAt(index, { latitude: degrees, longitude: degrees })
    })
    const whole = { from: 0, to: 9e15, stored: [], isStart: true, isEnd: true }
    const signals = signalsOf(ruleOf({ type: 'stands', minutes: 43_200 }))
    const budget = { left: MAX_TEST_PAIRS }
    const options = { timeZone: 'UTC', maxUnits: 2_000_000, budget }
    // Later than those of the whole time before, so that there is a beginning to look for.
    const early = fixAt(-50_000)
    const { stoppedAt } = evaluateReport(signals, [whole], [early, ...fixes], options)
    expect(stoppedAt).toBeGreaterThan(START + 3000 * MINUTE)
    expect(stoppedAt).toBeLessThan(START + 8000 * MINUTE)
  })

  /** As far apart as a place allows, alternately. */
  const swing = (count: number, latitude: number, east: number): Fix[] =>
    Array.from({ length: count }, (_, index) =>
      fixAt(index / 6, { latitude, longitude: index % 2 ? east : 0 }),
    )

  test('of 200 rules in one report is bounded, in short steps, and raises nothing twice', () => {
    const stored = [fixAt(-60_000), ...swing(8000, 0, 0.00089)]
    const late = fixAt(2000 / 6 + 0.01)
    const segment = { from: 0, to: 9e15, stored, isStart: true, isEnd: true }
    const signals = Array.from({ length: 200 }, (_, at) =>
      signalsOf(ruleOf({ type: 'stands', minutes: 300 + at })),
    ).flat()
    const budget = { left: MAX_REPORT_PAIRS }
    const steps = evaluateInSteps(signals, [segment], [late], { timeZone: 'UTC', budget })
    const yielded: number[] = []
    let step = steps.next()
    for (; !step.done; step = steps.next()) yielded.push(step.value)
    expect(budget.left).toBeLessThanOrEqual(0)
    expect(budget.left).toBeGreaterThan(-20_000)
    expect(Math.max(...yielded)).toBeLessThan(5000)
    expect(step.value.hits).toEqual([])
  })

  test('needs few comparisons where degrees of longitude are short', () => {
    const pairsAt = (latitude: number, east: number): number => {
      const budget = { left: MAX_TEST_PAIRS }
      const fixes = [fixAt(-60_000, { latitude }), ...swing(4000, latitude, east)]
      const whole = { from: 0, to: 9e15, stored: [], isStart: true, isEnd: true }
      evaluateReport(signalsOf(ruleOf({ type: 'stands', minutes: 300 })), [whole], fixes, {
        timeZone: 'UTC',
        budget,
      })
      return MAX_TEST_PAIRS - budget.left
    }
    // About 80 m each.
    expect(pairsAt(70, 0.0021)).toBeLessThan(1.1 * pairsAt(0, 0.00072))
  })

  test('for a day of a long history is found at once', () => {
    const fixes = Array.from({ length: 60_000 }, (_, index) =>
      fixAt(index / 2, { latitude: (index % 7) / 100_000, longitude: (index % 5) / 100_000 }),
    )
    expect(evaluate(fixes, 1440)).toEqual([1440])
  })

  test('for a day with a fix each second is found, in a report and in a test', () => {
    const next = (index: number) => ((index * 7919) % 601) / 2_000_000
    const fixes = Array.from({ length: 90_000 }, (_, index) =>
      fixAt(index / 60, { latitude: next(index), longitude: next(index + 300) }),
    )
    const signals = signalsOf(ruleOf({ type: 'stands', minutes: 1440 }))
    const options = { timeZone: 'UTC', maxUnits: 2_000_000 }
    const whole = { from: 0, to: 9e15, isStart: true, isEnd: true }
    const tested = evaluateReport(signals, [{ ...whole, stored: [] }], fixes, options)
    expect(minutesOf(tested.hits)).toEqual([1440])
    const [stored, added] = [fixes.slice(0, 86_390), fixes.slice(86_390, 87_390)]
    const live = evaluateReport(signals, [{ ...whole, stored }], added, options)
    expect(minutesOf(live.hits)).toEqual([1440])
  }, 30_000)
})

test('moving is raised once, when the device is away from where it was', () => {
  const store = new Track(ruleOf({ type: 'moves', metres: 200 }))
  const place = (minute: number, east: number, accuracy: number | null = null) =>
    fixAt(minute, { longitude: east / 111_320, accuracy })
  for (const [minute, east] of [
    [0, 0],
    [10, 50],
    [20, 20],
    [30, 400],
    [40, 2000],
    [50, 4000],
    [60, 4010],
    [70, 4020],
  ] as const)
    store.report([place(minute, east)])
  expect(minutesOf(store.hits)).toEqual([30])
  // A place that is less precise than it is away decides nothing.
  expect(store.report([place(80, 4500, 1000)])).toEqual([])
  expect(minutesOf(store.report([place(90, 6000)]))).toEqual([90])
})

test('an imprecise fix near where a moving device was does not end its way', () => {
  const store = new Track(ruleOf({ type: 'moves', metres: 200 }))
  const place = (minute: number, east: number, accuracy: number | null = null) =>
    fixAt(minute, { longitude: east / 111_320, accuracy })
  for (const fix of [place(0, 0), place(6, 0), place(12, 6000), place(18, 12_000)])
    store.report([fix])
  // Reported where the device was six minutes before.
  store.report([place(24, 12_000, 10_000)])
  store.report([place(30, 24_000)])
  expect(minutesOf(store.hits)).toEqual([12])
})

describe('limits', () => {
  test('of speed hold anywhere, or in zones', () => {
    const fixes = [
      fixAt(0, { ...PLACES.out, speed: 10 }),
      fixAt(1, { ...PLACES.out, speed: 50 }),
      fixAt(2, { ...PLACES.in, speed: 50 }),
      fixAt(3, { ...PLACES.in, speed: 10 }),
      fixAt(4, { ...PLACES.in }),
      fixAt(5, { ...PLACES.unknown, speed: 50 }),
      fixAt(6, { ...PLACES.in, speed: 31 }),
    ]
    const anywhere = new Track(ruleOf({ type: 'speed', above: 30 }))
    for (const fix of fixes) anywhere.report([fix])
    expect(minutesOf(anywhere.hits)).toEqual([1, 5])
    const inside = new Track(ruleOf({ type: 'speed', above: 30, zones: ['zon_1'] }))
    for (const fix of fixes) inside.report([fix])
    expect(minutesOf(inside.hits)).toEqual([2, 6])
    expect(inside.hits[0]?.zone?.id).toBe('zon_1')
    const slow = new Track(ruleOf({ type: 'speed', below: 20 }))
    for (const fix of fixes) slow.report([fix])
    // The first is slow already.
    expect(minutesOf(slow.hits)).toEqual([0, 3])
  })

  describe('of a speed that is computed', () => {
    const LIMIT = 60.37
    const when = { type: 'speed', above: LIMIT, computed: true } as const
    const secondsOf = (hits: Hit[]) => hits.map(({ fix }) => (fix.time - START) / 1000)
    const at = (second: number, north: number, more: Partial<Fix> = {}) =>
      fixAt(second / 60, { latitude: north / 110_574, ...more })
    const reportAll = (fixes: Fix[], given: RuleCondition = when) => {
      const store = new Track(ruleOf(given))
      for (const fix of fixes) store.report([fix])
      return store.hits
    }

    test('hold where the rule allows it, from two positions', () => {
      // 36 km/h, then 90, then 36.
      const fixes = [at(0, 0), at(60, 600), at(120, 2100), at(180, 2700), at(240, 4200)]
      expect(reportAll(fixes, { type: 'speed', above: LIMIT })).toEqual([])
      const hits = reportAll(fixes)
      expect(secondsOf(hits)).toEqual([120, 240])
      expect(hits[0]?.value).toBeCloseTo(90, 0)
      expect(secondsOf(reportAll(fixes, { type: 'speed', below: LIMIT, computed: true }))).toEqual([
        60, 180,
      ])
      // One that is reported counts, whatever the positions say.
      const reported = [at(0, 0), at(60, 600), at(120, 2100, { speed: 50 })]
      expect(reportAll(reported)).toEqual([])
      expect(reportAll([at(0, 0), at(60, 600), at(120, 1200, { speed: 70 })])[0]?.value).toBe(70)
    })

    test('hold only in the zones of the rule', () => {
      const fast = [at(0, 100), at(60, 200), at(90, 900), at(150, 3900), at(300, 9000)]
      const inside = reportAll(fast, { ...when, zones: ['zon_1'] })
      expect(secondsOf(inside)).toEqual([90])
      expect(inside[0]?.zone?.id).toBe('zon_1')
      const outside = [at(0, 5000), at(60, 5100), at(120, 8000)]
      expect(reportAll(outside, { ...when, zones: ['zon_1'] })).toEqual([])
    })

    test.each<[string, Fix[]]>([
      ['too near in time', [at(0, 0), at(60, 0), at(70, 0), at(89, 490)]],
      ['more than a day apart', [at(0, 0), at(60, 0), at(86_461, 1_700_000)]],
      ['less precise than 100 m', [at(0, 0), at(60, 0), at(120, 9000, { accuracy: 101 })]],
      ['within their errors of the limit', [at(0, 0), at(60, 0), at(120, 1050, { accuracy: 90 })]],
      ['not credible', [at(0, 0), at(60, 0), at(120, 50_000)]],
    ])('do not hold by positions that are %s', (_, fixes) => {
      expect(reportAll(fixes)).toEqual([])
    })

    test('hold by hourly positions with jitter, and by some a few hours apart', () => {
      // About 36 km/h, then 90.
      const hourly = [at(0, 0), at(3650, 36_000), at(7190, 72_000), at(10_860, 162_000)]
      expect(secondsOf(reportAll(hourly))).toEqual([10_860])
      const rare = [at(0, 0), at(10_000, 100_000), at(24_000, 450_000), at(38_000, 600_000)]
      expect(secondsOf(reportAll(rare))).toEqual([24_000])
    })

    test('that are lower ones hold only by positions at most an hour apart', () => {
      const below = { type: 'speed', below: LIMIT, computed: true } as const
      const fast = [at(0, 0), at(3600, 90_000)]
      expect(reportAll([...fast, at(7201, 91_000)], below)).toEqual([])
      expect(secondsOf(reportAll([...fast, at(7200, 91_000)], below))).toEqual([7200])
    })

    test('are for speeds that the device can have', () => {
      const fixes = [at(0, 0), at(60, 600), at(120, 50_600)]
      const hitsBy = (maxSpeed: number) => {
        const store = new Track(ruleOf(when), 'UTC', maxSpeed)
        for (const fix of fixes) store.report([fix])
        return secondsOf(store.hits)
      }
      expect([hitsBy(1200), hitsBy(4000), hitsBy(0)]).toEqual([[], [120], [120]])
    })

    test('do not hold for a device at rest whose positions differ', () => {
      const still = Array.from({ length: 400 }, (_, n) => at(n, ((n * 7) % 5) * 10))
      expect(reportAll(still, { ...when, above: 5 })).toEqual([])
      // The imprecise position is neither fast nor what the next is compared with.
      const jumps = [at(0, 0), at(60, 0), at(120, 3000, { accuracy: 5000 }), at(180, 0)]
      expect(reportAll(jumps)).toEqual([])
    })

    const step = fc.record({
      seconds: fc.constantFrom(5, 20, 30, 60, 60, 300, 3700, 86_500),
      kmh: fc.integer({ min: 0, max: 140 }),
      speed: fc.constantFrom(null, null, null, 30, 90),
      accuracy: fc.constantFrom(null, null, 15, 80, 500),
      key: fc.double({ noNaN: true }),
    })
    const tracksOf = fc
      .tuple(fc.array(step, { minLength: 2, maxLength: 50 }), fc.integer({ min: 1, max: 4 }))
      .map(([steps, count]) => {
        let [second, north] = [0, 0]
        const fixes = steps.map(({ seconds, kmh, speed, accuracy }) => {
          second += seconds
          north += (seconds * kmh) / 3.6
          return at(second, north, { speed, accuracy })
        })
        const arrivals = [...fixes.entries()]
          .sort(([a], [b]) => (steps[a]?.key ?? 0) - (steps[b]?.key ?? 0))
          .map(([, fix]) => fix)
        const rule = { ...ruleOf(when), hysteresis: { metres: 0, fixes: count } }
        return { fixes, arrivals, count, rule }
      })

    /** Compares each fix with the last one that counts, by the definition. */
    const modelOf = (fixes: Fix[], count: number): number[] => {
      const accuracyOf = ({ accuracy }: Fix) => accuracy ?? 0
      const decided = fixes.flatMap((fix) => {
        const earlier = fixes.findLast(
          (other) => other.time <= fix.time - 30_000 && accuracyOf(other) <= 100,
        )
        if (fix.speed !== null) return [{ fix, isFast: fix.speed > LIMIT }]
        if (!earlier || accuracyOf(fix) > 100 || earlier.time < fix.time - 86_400_000) return []
        const factor = 3600 / (fix.time - earlier.time)
        const metres = distanceMetres(earlier.latitude, 0, fix.latitude, 0)
        const error = accuracyOf(fix) + accuracyOf(earlier)
        if ((metres - error) * factor > LIMIT) return [{ fix, isFast: true }]
        return (metres + error) * factor <= LIMIT ? [{ fix, isFast: false }] : []
      })
      const raised: number[] = []
      let [state, last, run] = [false, null as boolean | null, 0]
      for (const { fix, isFast } of decided) {
        run = isFast === last ? run + 1 : 1
        last = isFast
        if (run < count) continue
        if (!state && isFast) raised.push(fix.time)
        state = isFast
      }
      return raised
    }

    test('are those of the definition, one report or many', () => {
      fc.assert(
        fc.property(tracksOf, fc.integer({ min: 1, max: 9 }), ({ fixes, count, rule }, size) => {
          const store = new Track(rule)
          for (let i = 0; i < fixes.length; i += size) store.report(fixes.slice(i, i + size))
          expect(store.hits.map(({ fix }) => fix.time)).toEqual(modelOf(fixes, count))
        }),
        { numRuns: 2000 },
      )
    })

    test('are all raised in any order of arrival', () => {
      fc.assert(
        fc.property(tracksOf, fc.integer({ min: 1, max: 9 }), (track, size) => {
          const { fixes, arrivals, count, rule } = track
          const store = new Track(rule)
          for (let i = 0; i < arrivals.length; i += size) store.report(arrivals.slice(i, i + size))
          expect(store.hits.length).toBeGreaterThanOrEqual(modelOf(fixes, count).length)
        }),
        { numRuns: 2000 },
      )
    })
  })

  test('of members and attributes', () => {
    const battery = new Track(ruleOf({ type: 'value', member: 'battery', below: 20 }))
    for (const [at, value] of [90, 19, 15, 21, 10].entries())
      battery.report([fixAt(at, { battery: value })])
    expect(minutesOf(battery.hits)).toEqual([1, 4])
    const range = new Track(ruleOf({ type: 'value', member: 'tank', above: 8, below: 2 }))
    for (const [at, tank] of [5, 9, 'x', 1, 5, 1].entries())
      range.report([
        fixAt(at, { rest: pickCompared(JSON.stringify({ attributes: { tank } }), ['tank']) }),
      ])
    expect(minutesOf(range.hits)).toEqual([1, 5])
  })
})

describe('a condition that already holds', () => {
  const SPEEDS: Record<State, Partial<Fix>> = {
    in: { speed: 50 },
    out: { speed: 10 },
    unknown: {},
  }
  /** When the rule that is made at a minute raises: what was before it counts as not fulfilled. */
  const modelRaises = (track: State[], made: number): number[] => {
    let before: State = 'out'
    return track.flatMap((state, minute) => {
      if (minute === made) before = 'out'
      if (state === 'unknown') return []
      const isRaised = before === 'out' && state === 'in' && minute >= made
      before = state
      return isRaised ? [minute] : []
    })
  }
  const ruleMadeAt = (minute: number) => {
    const time = START + minute * MINUTE
    return ruleOf({ type: 'speed', above: 30 }, { lastModified: time, conditionChanged: time })
  }
  const made = fc.integer({ min: 0, max: 40 })

  test('is raised with the first location after the rule was made, one report or many', () => {
    fc.assert(
      fc.property(tracks, made, fc.integer({ min: 1, max: 20 }), (track, minute, size) => {
        const store = new Track(ruleMadeAt(minute))
        for (let i = 0; i < track.length; i += size)
          store.report(track.slice(i, i + size).map((state, at) => fixAt(i + at, SPEEDS[state])))
        expect(minutesOf(store.hits)).toEqual(modelRaises(track, minute))
      }),
      { numRuns: 2000 },
    )
  })

  test('is raised as often in any order of arrival', () => {
    const keys = fc.array(fc.double({ noNaN: true }), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(tracks, made, keys, fc.integer({ min: 1, max: 6 }), (track, minute, by, size) => {
        const store = new Track(ruleMadeAt(minute))
        const arrivals = track
          .map((state, at) => ({ fix: fixAt(at, SPEEDS[state]), key: by[at] ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ fix }) => fix)
        for (let i = 0; i < arrivals.length; i += size) store.report(arrivals.slice(i, i + size))
        expect(store.hits).toHaveLength(modelRaises(track, minute).length)
      }),
      { numRuns: 3000 },
    )
  })

  test('by a rule of before the upgrade is not raised again', () => {
    const store = new Track(ruleOf({ type: 'speed', above: 30 }, { lastModified: START }))
    store.stored = [fixAt(1, { speed: 50 })]
    expect(store.report([fixAt(2, { speed: 50 })])).toEqual([])
  })
})

test('a schedule reads the wall clock of the fix', () => {
  const night = ruleOf(
    { type: 'enters', zones: ['zon_1'] },
    { schedule: [{ days: ['sat'], from: '20:00', to: '06:00' }] },
  )
  const store = new Track(night, 'Europe/Lisbon')
  const hour = 60
  // START is a Saturday.
  for (const at of [19, 21, 28, 31, 45]) {
    store.report([stateAt(at * hour - 1, 'out')])
    store.report([stateAt(at * hour, 'in')])
  }
  expect(minutesOf(store.hits)).toEqual([21 * hour, 28 * hour])
})
