import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { addDays, dayStart, localDay } from '../../../src/domain/time/day.ts'

/* A simple model of the ledger, and random commands for both. `MODEL_SEED=n` repeats a run. */

export const SEED = Number(env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
export const LICENSES = 3
export const START = Date.parse('2026-11-15T12:00:00Z')
const ZONES = ['UTC', 'Asia/Tokyo', 'Pacific/Honolulu', 'America/New_York', 'Pacific/Kiritimati']

/** Days after the start; null is a device that never expires. */
type Offset = number | null

export type Command =
  | { do: 'create'; ends: Offset }
  | { do: 'reactivate'; which: number; ends: Offset }
  | { do: 'replace'; which: number; ends: Offset }
  | { do: 'patch'; which: number; ends: Offset }
  | { do: 'remove'; which: number }
  | { do: 'total'; total: number }
  | { do: 'clock'; hours: number }
  | { do: 'zone'; zone: string }
  | { do: 'sweep' }
  | { do: 'evict' }

const ends = fc.option(fc.integer({ min: -3, max: 6 }), { freq: 3 })
const which = fc.nat({ max: 9 })

const command = (weight: number, members: Record<string, fc.Arbitrary<unknown>>) => ({
  weight,
  arbitrary: fc.record(members) as unknown as fc.Arbitrary<Command>,
})

export const commands = fc.array(
  fc.oneof(
    command(6, { do: fc.constant('create'), ends }),
    command(4, { do: fc.constant('reactivate'), which, ends }),
    command(2, { do: fc.constant('replace'), which, ends }),
    command(2, { do: fc.constant('patch'), which, ends }),
    command(2, { do: fc.constant('remove'), which }),
    command(1, { do: fc.constant('total'), total: fc.nat({ max: 6 }) }),
    command(3, { do: fc.constant('clock'), hours: fc.integer({ min: -30, max: 50 }) }),
    command(1, { do: fc.constant('zone'), zone: fc.constantFrom(...ZONES) }),
    command(1, { do: fc.constant('sweep') }),
    command(1, { do: fc.constant('evict') }),
  ),
  { minLength: 50, maxLength: 50 },
)

export const limitsUntil = (date: string | null) => ({
  expires: date !== null,
  expirationDate: date,
  dailyEmailLimit: 100,
  dailySmsLimit: 20,
})

export const dateOf = (offset: Offset): string | null =>
  offset === null ? null : addDays('2026-11-15', offset)

/** The expiration date of each device. A device that has not expired uses a license. */
export class Model {
  devices: (string | null)[] = []
  total: number
  zone = 'UTC'
  now = START
  day: string
  /** How often an active device has expired. */
  expiries = 0

  constructor(total: number) {
    this.total = total
    this.day = localDay(this.now, this.zone)
  }

  advanceToToday() {
    const today = localDay(this.now, this.zone)
    if (today > this.day) this.setDay(today)
  }

  setDay(day: string) {
    this.expiries += Math.max(0, this.used() - this.used(day))
    this.day = day
  }

  isExpired = (date: string | null, day = this.day) => date !== null && date <= day
  used = (day = this.day) => this.devices.filter((date) => !this.isExpired(date, day)).length

  /** Creates a device or changes its expiration date; false without a free license. */
  set(index: number, date: string | null): boolean {
    const was = index < this.devices.length && !this.isExpired(this.devices[index] ?? null)
    if (!was && !this.isExpired(date) && this.used() >= this.total) return false
    if (was && this.isExpired(date)) this.expiries++
    this.devices[index] = date
    return true
  }

  availableAt(): number | null {
    const days = this.devices
      .filter((date) => date !== null && !this.isExpired(date))
      .toSorted() as string[]
    const freeing = days.find((day) => this.used(day) < this.total)
    return freeing === undefined ? null : dayStart(freeing, this.zone)
  }

  apply(command: Command): 'ok' | 'no-license-available' | 'expiration-date-reached' | 'skip' {
    if (command.do === 'clock') {
      this.now += command.hours * 3_600_000
      return 'ok'
    }
    if (command.do === 'evict') return 'ok'
    this.advanceToToday()
    if (command.do === 'sweep') return 'ok'
    if (command.do === 'total') this.total = command.total
    else if (command.do === 'zone') {
      const day = localDay(this.now, command.zone)
      if (command.zone === this.zone) return 'ok'
      const revived = this.used(day) - this.used()
      if (revived > 0 && this.used(day) > this.total) return 'no-license-available'
      this.zone = command.zone
      this.setDay(day)
    } else if (command.do === 'create')
      return this.set(this.devices.length, dateOf(command.ends)) ? 'ok' : 'no-license-available'
    else {
      if (this.devices.length === 0) return 'skip'
      const index = command.which % this.devices.length
      if (command.do === 'remove') this.devices.splice(index, 1)
      else {
        const date = dateOf(command.ends)
        if (command.do === 'reactivate' && this.isExpired(date)) return 'expiration-date-reached'
        return this.set(index, date) ? 'ok' : 'no-license-available'
      }
    }
    return 'ok'
  }
}
