import type { RuleBody, ScheduleEntry } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { alertLabel } from '../../text/text.ts'
import { alertNameFor, type Condition } from './condition.ts'

/* What a rule does, in one sentence. */

type Weekday = ScheduleEntry['days'][number]

/** The names of what a rule mentions by id. */
export interface Names {
  device: (id: string) => string
  group: (id: string) => string
  zone: (id: string) => string
}

/** A rule, or what is typed of one so far. */
export type DescribedRule = Pick<RuleBody, 'when'> &
  Required<{
    [Name in 'devices' | 'groups' | 'schedule' | 'notifications']: NonNullable<RuleBody[Name]>
  }> & {
    alertName: string | null
    emergency: boolean
    cooldownMinutes: number
    /** Set while a form has no device or group chosen yet. */
    isForSome?: boolean
  }

const words = later.rules.sentence
const MAX_NAMED = 3
const WEEKDAYS: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const nameSome = (names: readonly string[]): string[] =>
  names.length <= MAX_NAMED
    ? [...names]
    : [...names.slice(0, MAX_NAMED - 1), words.more(names.length - MAX_NAMED + 1)]

const sayWho = ({ devices, groups, isForSome }: DescribedRule, names: Names): string => {
  const who = nameSome(devices.map(names.device))
  if (groups.length > 0) who.push(words.ofGroups(words.or(nameSome(groups.map(names.group)))))
  if (who.length > 0) return words.or(who)
  return isForSome ? words.somebody : words.anyDevice
}

const sayMinutes = (minutes: number): string => {
  if (!Number.isFinite(minutes)) return words.limit
  if (minutes > 0 && minutes % 1440 === 0) return words.daysLong(minutes / 1440)
  if (minutes > 0 && minutes % 60 === 0) return words.hours(minutes / 60)
  return words.minutes(minutes)
}

const sayLimit = (limit: number): string =>
  Number.isFinite(limit) ? limit.toLocaleString('en', { maximumFractionDigits: 3 }) : words.limit

const isGiven = (limit: number | null | undefined): limit is number =>
  limit !== null && limit !== undefined

const sayLimits = ({ above, below }: { above?: number | null; below?: number | null }): string => {
  const limits = [
    isGiven(below) && words.below(sayLimit(below)),
    isGiven(above) && words.above(sayLimit(above)),
  ].filter((one) => one !== false)
  return limits.length > 0 ? words.or(limits) : words.above(words.limit)
}

const saySpeed = (
  { above, below, zones, computed }: Extract<Condition, { type: 'speed' }>,
  names: Names,
): string => {
  const speed = isGiven(above)
    ? words.faster(sayLimit(above))
    : isGiven(below)
      ? words.slower(sayLimit(below))
      : words.faster(words.limit)
  const places = nameSome((zones ?? []).map(names.zone))
  const where = places.length > 0 ? words.inZones(words.or(places)) : ''
  return `${speed}${where}${computed ? words.computed : ''}`
}

const sayWhat = (when: Condition, names: Names): string => {
  const zones = (join: (items: string[]) => string) =>
    'zones' in when && when.zones && when.zones.length > 0
      ? join(nameSome(when.zones.map(names.zone)))
      : words.aZone
  switch (when.type) {
    case 'enters':
      return words.enters(zones(words.or))
    case 'leaves':
      return words.leaves(zones(words.or))
    case 'inside':
      return words.inside(zones(words.or), sayMinutes(when.minutes))
    case 'outside':
      // It counts as outside only where it is in none of them.
      return words.outside(zones(words.and), sayMinutes(when.minutes))
    case 'speed':
      return saySpeed(when, names)
    case 'value':
      return words.value(when.member.trim() || words.aValue, sayLimits(when))
    case 'moves':
      return words.moves(sayLimit(when.metres))
    case 'stands':
      return words.stands(sayMinutes(when.minutes))
    case 'silent':
      return words.silent(sayMinutes(when.minutes))
    case 'returns':
      return words.returns
  }
}

/** `06:00` is said as 6:00. */
const sayClock = (clock: string): string => clock.replace(/^0(\d)/, '$1')

const sayDays = (days: readonly Weekday[]): string => {
  const key = WEEKDAYS.filter((day) => days.includes(day)).join()
  if (key === 'mon,tue,wed,thu,fri') return words.weekdaysOnly
  if (key === 'sat,sun') return words.weekend
  return words.and(WEEKDAYS.filter((day) => days.includes(day)).map((day) => words.dayNames[day]))
}

const isWholeDay = ({ from, to }: ScheduleEntry): boolean =>
  from === to || (from === '00:00' && to === '24:00')

const sayEntry = (entry: ScheduleEntry): string => {
  const time = isWholeDay(entry)
    ? ''
    : words.between(sayClock(entry.from), sayClock(entry.to === '24:00' ? '00:00' : entry.to))
  if (entry.days.length === WEEKDAYS.length) return time || words.wholeDay
  return words.on(sayDays(entry.days), time)
}

const saySchedule = (schedule: readonly ScheduleEntry[]): string =>
  words.or(schedule.filter(({ days }) => days.length > 0).map(sayEntry))

const sayThen = ({ alertName, when, emergency, notifications }: DescribedRule): string => {
  const alert = alertLabel(alertName?.trim() || alertNameFor(when.type))
  const raise = emergency ? words.raiseEmergency(alert) : words.raise(alert)
  return notifications.length === 0
    ? words.notifyNobody(raise)
    : words.notify(raise, words.and(notifications.map((channel) => words.channels[channel])))
}

/** "When Tern 7 leaves Harbour between 20:00 and 6:00, raise “Zone left” and notify users by e-mail." */
export const describeRule = (rule: DescribedRule, names: Names): string => {
  const sentence = words.all(
    sayWho(rule, names),
    sayWhat(rule.when, names),
    saySchedule(rule.schedule),
    sayThen(rule),
  )
  const { cooldownMinutes } = rule
  return cooldownMinutes > 0 ? sentence + words.pause(sayMinutes(cooldownMinutes)) : sentence
}
