import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, type Day, dayStart, localDay } from '../../../src/domain/time/day.ts'
import {
  daysOf,
  type LicenseLine,
  linesSince,
  peakLicenses,
} from '../../../src/domain/usage/licenseDays.ts'

const at = (text: string): number => Date.parse(text)
const line = (time: string, what: LicenseLine['what'], used: number): LicenseLine => ({
  time: at(time),
  what,
  used,
})

describe('the licenses of a day', () => {
  const peaks = (lines: LicenseLine[], from: Day, to: Day, timeZone = 'UTC') =>
    peakLicenses({ lines, used: lines.at(-1)?.used ?? 0 }, { from, to, timeZone })

  test('are the most at the same time, not all that were in use in the course of it', () => {
    const lines = [
      line('2027-03-01T08:00:00Z', 'granted', 1),
      line('2027-03-02T09:00:00Z', 'released', 0),
      line('2027-03-02T10:00:00Z', 'granted', 1),
      line('2027-03-02T11:00:00Z', 'granted', 2),
      line('2027-03-02T12:00:00Z', 'released', 1),
    ]
    expect(peaks(lines, '2027-02-28', '2027-03-04')).toEqual([0, 1, 2, 1, 1])
  })

  test('begin and end with the day of the account’s zone', () => {
    const lines = [
      line('2027-03-01T23:30:00Z', 'granted', 1),
      line('2027-03-02T01:00:00Z', 'released', 0),
    ]
    expect(peaks(lines, '2027-03-01', '2027-03-03')).toEqual([1, 1, 0])
    expect(peaks(lines, '2027-03-01', '2027-03-03', 'Asia/Kolkata')).toEqual([0, 1, 0])
  })

  test('do not include a device on its expiration date, however late that was recorded', () => {
    const lines = [
      line('2027-03-01T08:00:00Z', 'granted', 1),
      line('2027-03-03T00:00:00Z', 'expired', 1),
      line('2027-03-03T00:00:00Z', 'granted', 1),
      line('2027-03-03T08:00:00Z', 'refused', 1),
    ]
    expect(peaks(lines, '2027-03-01', '2027-03-04')).toEqual([1, 1, 1, 1])
  })

  test('are known from the first line of a log whose beginning is gone', () => {
    const lines = [
      line('2027-03-01T00:00:00Z', 'expired', 4),
      line('2027-03-02T08:00:00Z', 'released', 6),
    ]
    expect(peaks(lines, '2027-02-28', '2027-03-03')).toEqual([8, 7, 7, 6])
  })

  test('are those in use where nothing was logged', () => {
    expect(
      peakLicenses(
        { lines: [], used: 3 },
        { from: '2027-03-01', to: '2027-03-02', timeZone: 'UTC' },
      ),
    ).toEqual([3, 3])
  })

  test('are none on a day that the zone skipped', () => {
    const lines = [line('2011-12-01T00:00:00Z', 'granted', 1)]
    expect(peaks(lines, '2011-12-29', '2011-12-31', 'Pacific/Apia')).toEqual([1, 0, 1])
  })
})

test('a log of 100,000 lines is read back to the line before the span, and no further', () => {
  let read = 0
  const newest = at('2027-03-31T12:00:00Z')
  function* newestFirst(): Generator<LicenseLine> {
    for (; read < 100_000; read++) {
      const what = read % 2 === 0 ? 'released' : 'granted'
      yield { time: newest - read * HOUR_MS, what, used: read % 2 === 0 ? 4 : 5 }
    }
  }
  const start = at('2027-03-30T00:00:00Z')
  const lines = linesSince(newestFirst(), [], start)
  expect(lines).toHaveLength(38)
  expect(read).toBeLessThan(38)
  expect(lines[0]?.time).toBeLessThan(start)
  const span = { from: '2027-03-30', to: '2027-03-31', timeZone: 'UTC' }
  expect(peakLicenses({ lines, used: 4 }, span)).toEqual([5, 5])
})

const ZONES = ['UTC', 'Pacific/Kiritimati', 'America/New_York', 'Pacific/Pago_Pago', 'Asia/Kolkata']
const HOUR_MS = 3_600_000

interface Device {
  ends: Day | null
  isRecorded: boolean
  isDeleted: boolean
  /** When it had a license; the last period is open. */
  periods: [from: number, to: number][]
}

/** An account as simple as possible: what is in use is found by looking at every device. */
class Model {
  now = at('2027-01-10T12:00:00Z')
  timeZone = 'UTC'
  devices: Device[] = []
  lines: (LicenseLine & { sequence: number })[] = []

  get day(): Day {
    return localDay(this.now, this.timeZone)
  }

  isActive({ ends, isDeleted }: Device): boolean {
    return !isDeleted && (ends === null || ends > this.day)
  }

  log(what: LicenseLine['what'], time = this.now): void {
    const used = this.devices.filter((device) => this.isActive(device)).length
    this.lines.push({ time, what, used, sequence: this.lines.length })
  }

  end(device: Device, time: number): void {
    const period = device.periods.at(-1)
    if (period?.[1] === Infinity) period[1] = time
  }

  wait(hours: number): void {
    this.now += hours * HOUR_MS
    // A license is free at the first instant of the day, whoever records it and when.
    for (const device of this.devices)
      if (device.ends !== null && !device.isDeleted && device.ends <= this.day)
        this.end(device, dayStart(device.ends, this.timeZone))
  }

  record(since = 0): void {
    for (const device of this.devices) {
      const { ends, isRecorded, isDeleted } = device
      if (ends === null || isDeleted || isRecorded || ends > this.day) continue
      device.isRecorded = true
      this.log('expired', Math.max(since, dayStart(ends, this.timeZone)))
    }
  }

  grant(days: number | null): void {
    const ends = days === null ? null : addDays(this.day, days)
    this.devices.push({
      ends,
      isRecorded: false,
      isDeleted: false,
      periods: [[this.now, Infinity]],
    })
    this.log('granted')
  }

  release(index: number): void {
    const device = this.devices[index % Math.max(1, this.devices.length)]
    if (!device || device.isDeleted) return
    if (this.isActive(device)) {
      device.isDeleted = true
      this.end(device, this.now)
      this.log('released')
    } else {
      this.record()
      device.isDeleted = true
    }
  }

  changeZone(timeZone: string): void {
    if (timeZone === this.timeZone) return
    this.record()
    const wereActive = this.devices.map((device) => this.isActive(device))
    this.timeZone = timeZone
    this.devices.forEach((device, index) => {
      const isActive = this.isActive(device)
      if (wereActive[index] && !isActive && !device.isDeleted) this.end(device, this.now)
      if (wereActive[index] || !isActive) return
      device.isRecorded = false
      device.periods.push([this.now, Infinity])
    })
    this.record(this.now)
    this.log('zone-changed')
  }

  countAt(time: number): number {
    const periods = this.devices.flatMap((device) => device.periods)
    return periods.filter(([from, to]) => from <= time && time < to).length
  }

  peakOf(day: Day, timeZone: string): number {
    const [start, end] = [dayStart(day, timeZone), dayStart(addDays(day, 1), timeZone)]
    const starts = this.devices.flatMap(({ periods }) => periods.map(([from]) => from))
    const times = [start, ...starts.filter((time) => time >= start && time < end)]
    return Math.max(...times.map((time) => this.countAt(time)))
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    kind: fc.constant('grant' as const),
    days: fc.option(fc.integer({ min: 1, max: 4 })),
  }),
  fc.record({ kind: fc.constant('release' as const), index: fc.nat(20) }),
  fc.record({ kind: fc.constant('record' as const) }),
  fc.record({ kind: fc.constant('refuse' as const) }),
  fc.record({ kind: fc.constant('zone' as const), timeZone: fc.constantFrom(...ZONES) }),
)

test('license-days agree with a model, whatever expires, is recorded late, or changes zone', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(...ZONES), (steps, zone) => {
      const model = new Model()
      for (const one of steps) {
        if (one.kind === 'wait') model.wait(one.hours)
        if (one.kind === 'grant') model.grant(one.days)
        if (one.kind === 'release') model.release(one.index)
        if (one.kind === 'record') model.record()
        if (one.kind === 'refuse') model.log('refused')
        if (one.kind === 'zone') model.changeZone(one.timeZone)
      }
      model.record()
      const lines = model.lines.toSorted((a, b) => a.time - b.time || a.sequence - b.sequence)
      const span = { from: '2027-01-08', to: addDays(localDay(model.now, zone), 1) }
      const used = model.countAt(model.now)
      expect(peakLicenses({ lines, used }, { ...span, timeZone: zone })).toEqual(
        daysOf(span).map((day) => model.peakOf(day, zone)),
      )
      for (const from of daysOf(span)) {
        const later = { ...span, from }
        const needed = linesSince(model.lines.toReversed(), [], dayStart(from, zone))
        expect(peakLicenses({ lines: needed, used }, { ...later, timeZone: zone })).toEqual(
          daysOf(later).map((day) => model.peakOf(day, zone)),
        )
      }
    }),
    { numRuns: 500 },
  )
})
