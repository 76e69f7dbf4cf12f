import { expect, test } from 'vitest'
import { edgeWork } from '../../../src/domain/geo/edgeDistance.ts'
import type { Position } from '../../../src/domain/geo/zone.ts'
import { compileShape } from '../../../src/domain/geo/zoneGeometry.ts'
import type { Rule } from '../../../src/domain/rule/rule.ts'
import type { Fix } from '../../../src/domain/track/fix.ts'
import { evaluateReport } from '../../../src/rules/evaluate/report.ts'
import { type CompiledZone, compileRule, type Signal } from '../../../src/rules/evaluate/signals.ts'

const MINUTE = 60_000

const positions = Array.from({ length: 1000 }, (_, at): Position => {
  const angle = (2 * Math.PI * at) / 1000
  const radius = at % 2 ? 0.05 : 0.06
  return [radius * Math.cos(angle), radius * Math.sin(angle)]
})
const zone: CompiledZone = {
  id: 'zon_1',
  name: 'Harbour',
  lastModified: 0,
  shape: compileShape({ type: 'Polygon', coordinates: [[...positions, [0.06, 0]]] }),
}

/** A rule for each margin, for entering or leaving the zone. */
const signalsOf = (margins: number[], type: 'enters' | 'leaves' = 'enters'): Signal[] =>
  margins.flatMap((metres, at) => {
    const rule: Rule = {
      id: `rul_${at}`,
      name: 'A rule',
      enabled: true,
      devices: [],
      groups: [],
      when: { type, zones: [zone.id] },
      schedule: [],
      alertName: 'Test',
      text: '',
      notifications: [],
      emergency: false,
      hysteresis: { metres, fixes: 1 },
      cooldownMinutes: 0,
      lateMinutes: 60,
      creation: 0,
      lastModified: 0,
      version: 1,
    }
    return compileRule(rule, new Map([[zone.id, zone]]))
  })

/** Alternately inside and outside. */
const fixes = Array.from(
  { length: 400 },
  (_, at): Fix => ({
    time: at * MINUTE,
    latitude: 0.001,
    longitude: at % 2 ? 0.01 + at / 1e5 : 0.1,
    altitude: null,
    speed: null,
    course: null,
    accuracy: 5,
    battery: null,
    rest: null,
  }),
)
const WHOLE = { from: 0, to: 9e15, stored: [], isStart: true, isEnd: true }

const evaluate = (signals: Signal[], maxUnits?: number) => {
  const before = edgeWork.units
  const options = { timeZone: 'UTC', ...(maxUnits !== undefined && { maxUnits }) }
  const steps = evaluateReport(signals, [WHOLE], fixes, options)
  const yielded: number[] = []
  for (;;) {
    const step = steps.next()
    if (!step.done) yielded.push(step.value)
    else return { ...step.value, yielded, edgeUnits: edgeWork.units - before }
  }
}

test('a zone is evaluated once at each fix, for all rules', () => {
  const one = evaluate(signalsOf([200]))
  expect(one.edgeUnits).toBeGreaterThan(0)
  const margins = Array.from({ length: 100 }, (_, at) => 2 * at + 2)
  const many = evaluate(signalsOf(margins))
  expect(many.edgeUnits).toBeCloseTo(one.edgeUnits, 5)
  expect(many.hits).toHaveLength(100 * one.hits.length)
  expect(one.hits).toHaveLength(200)
})

test('rules with the same values are evaluated as one, and each raises its own alerts', () => {
  const alike = [...signalsOf(Array(100).fill(10)), ...signalsOf([10], 'leaves')]
  const many = evaluate(alike)
  const sumOf = (units: number[]) => units.reduce((sum, each) => sum + each, 0)
  expect(sumOf(many.yielded)).toBeLessThan(1.5 * sumOf(evaluate(signalsOf([10])).yielded))
  // No more hits are kept in one report.
  expect(many.hits).toHaveLength(20_000)
  expect(new Set(many.hits.map(({ signal }) => signal.rule.id)).size).toBe(100)
})

test('no step of the work is long', () => {
  const { yielded } = evaluate(signalsOf(Array.from({ length: 200 }, (_, at) => at + 1)))
  expect(yielded.length).toBeGreaterThan(fixes.length)
  expect(Math.max(...yielded)).toBeLessThan(1000)
})

test('limited work stops at a fix and finds the same up to there', () => {
  const signals = signalsOf([10, 20])
  const all = evaluate(signals)
  expect(all.stoppedAt).toBeNull()
  const some = evaluate(signals, 20_000)
  const { stoppedAt } = some
  expect(stoppedAt).toBeGreaterThan(10 * MINUTE)
  expect(stoppedAt).toBeLessThan(399 * MINUTE)
  const timesOf = ({ hits }: { hits: { fix: Fix }[] }) => hits.map(({ fix }) => fix.time)
  expect(timesOf(some)).toEqual(timesOf(all).filter((time) => time <= (stoppedAt ?? 0)))
  expect(some.hits.length).toBeGreaterThan(10)
})
