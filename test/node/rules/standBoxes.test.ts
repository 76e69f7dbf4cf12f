import { expect, test } from 'vitest'
import type { Rule } from '../../../src/domain/rule/rule.ts'
import type { Fix } from '../../../src/domain/track/fix.ts'
import type { Segment } from '../../../src/rules/evaluate/crossings.ts'
import { evaluateReport, WINDOW_SIZES } from '../../../src/rules/evaluate/report.ts'
import { compileRule } from '../../../src/rules/evaluate/signals.ts'
import { nextStands } from '../../../src/rules/evaluate/standBoxes.ts'
import { isPrecise } from '../../../src/rules/evaluate/standstill.ts'
import { NO_STAYS, nextStays, parseStays } from '../../../src/rules/evaluate/stays.ts'

/* Where devices with very many locations stand. */

const START = Date.UTC(2026, 10, 14)
const SECOND = 1000
const METRES = 100

const standsFor = (minutes: number, metres: number) =>
  compileRule(
    {
      ...{ id: 'rul_1', name: 'A rule', enabled: true, devices: [], groups: [], schedule: [] },
      ...{ alertName: 'Test', text: '', notifications: [], emergency: false, version: 1 },
      ...{ cooldownMinutes: 0, lateMinutes: 60, creation: 0, lastModified: 0 },
      hysteresis: { metres, fixes: 1 },
      when: { type: 'stands', minutes },
    } as Rule,
    new Map(),
  )

/** So many metres north and east of a place. */
const fixAt = (second: number, [north, east]: [number, number], accuracy = 0): Fix => ({
  ...{ time: START + second * SECOND, accuracy },
  ...{ latitude: 50 + north / 111_200, longitude: 8 + east / 71_700 },
  ...{ altitude: null, speed: null, course: null, battery: null, rest: null },
})

/** What a computation returns that yields its units of work. */
const finish = <Result>(work: Generator<number, Result>): Result => {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

const inOrder = (fixes: Fix[]) => fixes.sort((a, b) => a.time - b.time)

/** A store of one track that evaluates a rule as the service does, with or without a record. */
class Track {
  readonly stored: Fix[] = []
  readonly hits: number[] = []
  readonly #signals: ReturnType<typeof standsFor>
  readonly #hasRecord: boolean
  record: string | null = null
  /** How many stored fixes the last report read, and how often the record changed. */
  reads = 0
  writes = 0

  constructor(minutes: number, hasRecord: boolean, metres = 0) {
    this.#signals = standsFor(minutes, metres)
    this.#hasRecord = hasRecord
  }

  get stand() {
    const [stay] = parseStays(this.record).values()
    return typeof stay === 'object' ? stay : null
  }

  report(added: Fix[]): void {
    const [first, last] = [added[0]?.time ?? 0, added.at(-1)?.time ?? 0]
    const stays = this.#hasRecord ? parseStays(this.record) : NO_STAYS
    let [before, after] = [0, 0]
    for (;;) {
      const earlier = this.stored.filter(({ time }) => time < first)
      const later = this.stored.filter(({ time }) => time > last)
      const [back, ahead] = [WINDOW_SIZES[before] ?? 0, WINDOW_SIZES[after] ?? 0]
      const stored = [
        ...earlier.slice(-back),
        ...this.stored.filter(({ time }) => time >= first && time <= last),
        ...later.slice(0, ahead),
      ]
      const [isStart, isEnd] = [earlier.length < back, later.length < ahead]
      const from = isStart ? 0 : (stored[0]?.time ?? 0)
      const to = isEnd ? 9e15 : (stored.at(-1)?.time ?? 0)
      const segment: Segment = { from, to, stored, isStart, isEnd }
      this.reads = stored.length
      const { needsBefore, needsAfter, ...found } = finish(
        evaluateReport(this.#signals, [segment], added, { timeZone: 'UTC', stays }),
      )
      const { hits, stays: ends } = found
      const isMore = [needsBefore && before < 3, needsAfter && after < 3]
      if (isMore[0]) before++
      if (isMore[1]) after++
      if (isMore.includes(true)) continue
      this.hits.push(...hits.map(({ fix }) => (fix.time - START) / SECOND))
      const part = { segment, added, lacking: [] }
      const stands = finish(nextStands(stays, this.#signals, part))
      const next = this.#hasRecord ? nextStays(this.record, ends, stands) : null
      if (next !== this.record) this.writes++
      this.record = next
      break
    }
    this.stored.push(...added)
    inOrder(this.stored)
  }
}

/** The record says what the whole track does. */
const expectTrue = ({ stored, stand }: Track, seed: number) => {
  if (!stand) return
  const precise = stored.filter(({ accuracy }) => isPrecise(accuracy, METRES))
  const first = precise.findIndex(({ time }) => time >= stand.since)
  const { time, latitude, longitude, accuracy } = precise[first - 1] ?? {}
  expect([seed, precise[first]?.time]).toEqual([seed, stand.since])
  const previous = first > 0 ? { time, latitude, longitude, accuracy } : null
  expect([seed, stand.previous]).toEqual([seed, previous])
  const isOut = precise.slice(first).some(({ latitude, longitude, accuracy }) => {
    // One that is elsewhere may be at the place.
    const [north, east] = [(accuracy ?? 0) / 111_200, (accuracy ?? 0) / 71_700]
    const isInside = latitude >= stand.south - north && latitude <= stand.north + north
    return !isInside || longitude < stand.west - east || longitude > stand.east + east
  })
  expect([seed, isOut]).toEqual([seed, false])
}

const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/** Stands here and there with jitter, moves between, and drifts; some fixes are not precise. */
const randomTrack = (next: () => number, count: number): Fix[] => {
  let [north, east, jitter] = [0, 0, 20]
  return Array.from({ length: count }, (_, second) => {
    // At first it stands for so long that this is stored.
    const luck = second < 1400 ? 0.5 : next()
    if (luck < 0.0004) [north, east] = [north + 600 * (next() - 0.5), east + 600 * (next() - 0.5)]
    if (luck > 0.999) jitter = 10 + next() * (next() < 0.2 ? 70 : 25)
    const isGlitch = second > 1400 && next() < 0.0002
    const isVague = second > 1400 && next() < 0.004
    const spread = isGlitch ? 800 : isVague ? 160 : jitter
    const place: [number, number] = [
      north + spread * (next() - 0.5),
      east + spread * (next() - 0.5),
    ]
    return fixAt(second, place, isVague ? 95 : next() < 0.05 ? 400 : next() < 0.1 ? 30 : 0)
  })
}

const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1e6)

test.each([0, 1, 2, 3, 4, 5])(
  'random tracks raise what windows find (%i)',
  (round) => {
    const seed = SEED + round
    const next = random(seed)
    const minutes = [25, 40, 60][round % 3] as number
    const [known, unknown] = [new Track(minutes, true), new Track(minutes, false)]
    const track = randomTrack(next, 6000)
    const late = round < 2 ? [] : track.filter(() => next() < 0.01)
    const inTime = track.filter((fix) => !late.includes(fix))
    let isKnown = false
    while (inTime.length + late.length > 0) {
      const isLate = late.length > 0 && (inTime.length === 0 || next() < 0.3)
      const from = isLate ? late : inTime
      const at = isLate ? Math.floor(next() * late.length) : 0
      const added = from.splice(
        at,
        isLate ? 1 + Math.floor(next() * 2) : 1 + Math.floor(next() * 90),
      )
      known.report(added)
      unknown.report(added)
      expectTrue(known, seed)
      isKnown ||= known.stand !== null
      expect([seed, known.hits]).toEqual([seed, unknown.hits])
    }
    expect([seed, isKnown]).toEqual([seed, true])
  },
  60_000,
)

/** One fix a second from the one to before the other, some metres apart; `east` is its place. */
const standAt = (east: number, from: number, to: number): Fix[] =>
  Array.from({ length: to - from }, (_, at) =>
    fixAt(from + at, [((at * 7919) % 31) - 15, east + ((at * 104_729) % 31) - 15]),
  )

const report = (track: Track, fixes: Fix[], size = 500) => {
  for (let at = 0; at < fixes.length; at += size) track.report(fixes.slice(at, at + size))
}

const HOURS = 5
const DENSE = HOURS * 3600

test.each([true, false])(
  'many more fixes than are read raise once (at the start: %s)',
  (is) => {
    const track = new Track(HOURS * 60, true)
    if (!is) track.report([fixAt(-60, [0, 5000])])
    report(track, standAt(0, 0, DENSE - 3))
    const { writes } = track
    for (const fix of standAt(0, DENSE - 3, DENSE + 3)) {
      track.report([fix])
      expect(track.reads).toBeLessThan(10)
    }
    report(track, standAt(0, DENSE + 3, 2 * DENSE + 10))
    expect(track.hits).toEqual([DENSE])
    expect(writes).toBeLessThan(10)
    expect(track.writes).toBe(writes)
    // Away and back.
    const back = 2 * DENSE + 100
    report(track, [fixAt(back - 50, [0, 5000]), ...standAt(0, back, back + DENSE + 5)])
    expect(track.hits).toEqual([DENSE, back + DENSE])
  },
  60_000,
)

test('fixes that may be at the place, by their accuracy, do not end the stand', () => {
  const track = new Track(HOURS * 60, true)
  // Up to 160 m from each other, and 100 m from some at the place.
  const fixes = standAt(0, 0, 2 * DENSE + 10).map((fix, second) =>
    second % 700 === 5 ? fixAt(second, [second % 1400 > 700 ? 80 : -80, 0], 100) : fix,
  )
  report(track, fixes)
  expect(track.hits).toEqual([DENSE])
  expect(track.writes).toBeLessThan(10)
  track.report([fixAt(2 * DENSE + 20, [0, 200], 100)])
  expect(track.stand).toBeNull()
}, 60_000)

test('a late fix elsewhere begins the stand anew, one at its place changes nothing', () => {
  const track = new Track(HOURS * 60, true)
  report(track, standAt(0, 0, 12_000))
  const { record } = track
  track.report([fixAt(1000.5, [0, 0])])
  expect(track.reads).toBeLessThan(10)
  expect(track.record).toBe(record)
  track.report([fixAt(2000.5, [0, 5000])])
  expect(track.stand?.since).toBe(START + 2001 * SECOND)
  expectTrue(track, 0)
  report(track, standAt(0, 12_000, 2001 + DENSE + 3))
  expect(track.hits).toEqual([2001 + DENSE])
}, 60_000)

test('a late fix by which the alert was due in what is not read raises it late', () => {
  const track = new Track(HOURS * 60, true)
  track.report([fixAt(-60, [0, 5000])])
  report(track, standAt(0, 120, DENSE + 50))
  track.report([fixAt(0, [0, 0])])
  report(track, standAt(0, DENSE + 50, DENSE + 400), 20)
  expect(track.hits).toEqual([DENSE + 120])
}, 60_000)

test('a beginning that was not found is late, but true', () => {
  const track = new Track(HOURS * 60, true)
  track.stored.push(...standAt(0, 0, 10_000))
  report(track, standAt(0, 10_000, 10_001))
  const since = ((track.stand?.previous?.time ?? 0) - START) / SECOND
  expect(since).toBe(10_000 - 8192)
  report(track, standAt(0, 10_001, since + DENSE + 500))
  expect(track.hits).toEqual([since + DENSE])
}, 60_000)

test('a device that moves has no record, one that drifts seldom another', () => {
  const moving = new Track(60, true)
  report(
    moving,
    Array.from({ length: 3000 }, (_, at) => fixAt(at, [at * 2, 0])),
  )
  expect(moving.writes).toBe(0)
  const drifting = new Track(60, true)
  const fixes = Array.from({ length: 6000 }, (_, at) => fixAt(at, [at * 0.05, 0]))
  report(drifting, fixes, 5)
  expect(drifting.writes).toBeGreaterThan(1)
  expect(drifting.writes).toBeLessThan(100)
  const wide = new Track(60, true, 10_000)
  report(
    wide,
    Array.from({ length: 6000 }, (_, at) => fixAt(at, [at * 5, 0])),
    5,
  )
  expect(wide.writes).toBeGreaterThan(1)
  expect(wide.writes).toBeLessThan(100)
}, 60_000)
