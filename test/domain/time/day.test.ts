import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addDays,
  dayStart,
  daysBetween,
  isDay,
  isTimeZone,
  localDay,
  zoneFormats,
} from '../../../src/domain/time/day.ts'

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)
const starts = (day: string, zone: string) => new Date(dayStart(day, zone)).toISOString()
const hoursOf = (day: string, zone: string) =>
  (dayStart(addDays(day, 1), zone) - dayStart(day, zone)) / HOUR

describe('a calendar day', () => {
  test('is computed in the zone, at its very edges', () => {
    expect(localDay(at('2026-11-14T23:59:59.999Z'), 'UTC')).toBe('2026-11-14')
    expect(localDay(at('2026-11-15T00:00:00.000Z'), 'UTC')).toBe('2026-11-15')
    expect(localDay(at('2026-11-14T10:00:00Z'), 'Pacific/Kiritimati')).toBe('2026-11-15')
    expect(localDay(at('2026-11-14T11:59:59Z'), 'Etc/GMT+12')).toBe('2026-11-13')
    expect(localDay(at('2026-11-14T18:30:00Z'), 'Asia/Kolkata')).toBe('2026-11-15')
  })

  test('begins a year where the year begins there', () => {
    expect(localDay(at('2027-01-01T04:59:59.999Z'), 'America/New_York')).toBe('2026-12-31')
    expect(starts('2027-01-01', 'America/New_York')).toBe('2027-01-01T05:00:00.000Z')
    expect(starts('2027-01-01', 'Asia/Tokyo')).toBe('2026-12-31T15:00:00.000Z')
    expect(starts('9999-12-31', 'Pacific/Kiritimati')).toBe('9999-12-30T10:00:00.000Z')
    expect(starts('9999-12-31', 'Pacific/Pago_Pago')).toBe('9999-12-31T11:00:00.000Z')
  })

  test('has 23, 24 or 25 hours', () => {
    expect(hoursOf('2026-03-29', 'Europe/Lisbon')).toBe(23)
    expect(hoursOf('2026-10-25', 'Europe/Lisbon')).toBe(25)
    expect(hoursOf('2026-07-01', 'Europe/Lisbon')).toBe(24)
    expect(hoursOf('2026-04-05', 'Australia/Lord_Howe')).toBe(24.5)
    expect(localDay(at('2026-10-25T00:30:00Z'), 'Europe/Lisbon')).toBe(
      localDay(at('2026-10-25T23:30:00Z'), 'Europe/Lisbon'),
    )
  })

  test('begins at one where midnight is skipped', () => {
    expect(starts('2018-11-04', 'America/Sao_Paulo')).toBe('2018-11-04T03:00:00.000Z')
    expect(hoursOf('2018-11-04', 'America/Sao_Paulo')).toBe(23)
    expect(localDay(at('2018-11-04T02:59:59.999Z'), 'America/Sao_Paulo')).toBe('2018-11-03')
  })

  test('begins at its one midnight where the hour before it comes twice', () => {
    expect(starts('2018-02-18', 'America/Sao_Paulo')).toBe('2018-02-18T03:00:00.000Z')
    expect(hoursOf('2018-02-17', 'America/Sao_Paulo')).toBe(25)
  })

  test('that never was begins with the one that was next', () => {
    expect(starts('2011-12-30', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z')
    expect(starts('2011-12-31', 'Pacific/Apia')).toBe('2011-12-30T10:00:00.000Z')
    expect(localDay(at('2011-12-30T09:59:59.999Z'), 'Pacific/Apia')).toBe('2011-12-29')
  })

  test('that begins twice begins the first time', () => {
    expect(starts('2010-11-07', 'America/St_Johns')).toBe('2010-11-07T02:30:00.000Z')
    expect(localDay(at('2010-11-07T02:30:00Z'), 'America/St_Johns')).toBe('2010-11-07')
    expect(localDay(at('2010-11-07T02:31:00Z'), 'America/St_Johns')).toBe('2010-11-06')
    expect(starts('2010-03-05', 'Antarctica/Casey')).toBe('2010-03-04T13:00:00.000Z')
  })

  test('begins where a search minute by minute finds it, in any zone and near any change of clocks', () => {
    const model = (day: string, zone: string): number => {
      const parts = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
      })
      const reads = (instant: number) => {
        const {
          year,
          month,
          day: date,
        } = Object.fromEntries(
          parts.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
        )
        return ((year ?? 0) * 100 + (month ?? 0)) * 100 + (date ?? 0)
      }
      const wanted = Number(day.replaceAll('-', ''))
      let instant = at(`${day}T00:00:00Z`) - 15 * HOUR
      while (reads(instant) < wanted) instant += 60_000
      return instant
    }
    const zones = [
      'America/Havana',
      'Asia/Beirut',
      'Africa/Cairo',
      'America/Asuncion',
      'Atlantic/Azores',
      'Asia/Kathmandu',
      'Pacific/Chatham',
    ]
    const changes = [
      '2026-03-08',
      '2026-11-01',
      '2026-03-29',
      '2026-10-25',
      '2026-04-24',
      '2026-10-30',
      '2026-10-04',
      '2019-03-30',
    ]
    const days = fc.oneof(
      fc.integer({ min: 0, max: 24_000 }).map((number) => addDays('2000-01-01', number)),
      fc
        .tuple(fc.constantFrom(...changes), fc.integer({ min: -1, max: 1 }))
        .map(([day, by]) => addDays(day, by)),
    )
    const zone = fc.constantFrom(...zones, ...Intl.supportedValuesOf('timeZone'))
    fc.assert(
      fc.property(days, zone, (day, name) => {
        expect(new Date(dayStart(day, name)).toISOString()).toBe(
          new Date(model(day, name)).toISOString(),
        )
      }),
      { numRuns: 40 },
    )
  }, 30_000)
})

test('a day is one of the calendar, written in full', () => {
  for (const day of ['2026-02-28', '2024-02-29', '1001-01-01', '9999-12-31'])
    expect(isDay(day), day).toBe(true)
  for (const none of [
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-1-1',
    '0999-01-01',
    '1000-01-01',
    '10000-01-01',
    '2026-01-01T00:00',
    ' 2026-01-01',
    '',
    '２０２６-01-01',
  ]) {
    expect(isDay(none), none).toBe(false)
  }
})

test('as many spellings of a zone as anyone sends fill no memory', () => {
  let made = 0
  const format = zoneFormats((timeZone) => {
    made++
    return new Intl.DateTimeFormat('en-CA', { timeZone })
  })
  for (const zone of ['UTC', 'Utc', 'UTC']) format(zone)
  expect(made).toBe(2)
  const spelling = (n: number) =>
    [...'america/los_angeles']
      .map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter))
      .join('')
  const spellings = new Set(Array.from({ length: 4096 }, (_, n) => spelling(n)))
  for (const zone of spellings) format(zone)
  format('UTC')
  expect(spellings.size).toBeGreaterThan(1000)
  expect(made).toBe(spellings.size + 3)
})

test('days between two', () => {
  expect(daysBetween('2026-03-29', '2026-03-29')).toBe(0)
  expect(daysBetween('2024-02-28', '2024-03-01')).toBe(2)
  expect(daysBetween('9999-01-01', '9999-12-31')).toBe(364)
})

test('days are counted across months, years and leap days', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
  expect(addDays('2100-02-28', 1)).toBe('2100-03-01')
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28')
  expect(addDays('2026-03-29', 400)).toBe('2027-05-03')
})

test('a zone has an IANA name; an offset is none', () => {
  for (const zone of [
    'UTC',
    'Asia/Kolkata',
    'Europe/Kyiv',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'America/Port-au-Prince',
    'EST5EDT',
  ]) {
    expect(isTimeZone(zone), zone).toBe(true)
  }
  for (const none of [
    '+05:00',
    '-0300',
    '05:00',
    'UTC+1',
    'Z',
    '',
    ' UTC',
    'Mars/Base',
    'Europe/',
    '/UTC',
    'x'.repeat(65),
    '__proto__',
  ]) {
    expect(isTimeZone(none), none).toBe(false)
  }
})
