import { describe, expect, test } from 'vitest'
import type { Watch } from '../../../../console/api/types.ts'
import {
  extendedDue,
  newWatchDraft,
  WATCH_ALERT,
  watchBodyOf,
  watchDraftOf,
} from '../../../../console/pages/watches/watchDraft.ts'
import { sortWatches } from '../../../../console/pages/watches/watches.ts'
import { isShown, readWatchFilters } from '../../../../console/pages/watches/watchFilters.ts'
import {
  countdownOf,
  formatCountdown,
  formatMinutes,
} from '../../../../console/pages/watches/watchTimes.ts'
import * as server from '../../../../src/domain/watch/watch.ts'

const NOW = Date.parse('2027-03-03T11:20:00.000Z')
const minutesAhead = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString()

const watch = (members: Partial<Watch> = {}): Watch => ({
  id: 'wat_1',
  name: 'Crossing',
  deviceId: 'dev_1',
  due: minutesAhead(200),
  everyMinutes: null,
  graceMinutes: 15,
  counts: 'any',
  remindMinutes: null,
  alertName: WATCH_ALERT,
  emergency: false,
  notifications: ['Email'],
  state: 'active',
  nextDue: minutesAhead(200),
  lastCheckIn: null,
  alertId: null,
  creation: minutesAhead(-10),
  lastModified: minutesAhead(-10),
  ...members,
})

describe('the deadline of a check-in', () => {
  const say = (members: Partial<Watch>) => {
    const countdown = countdownOf(watch(members), NOW)
    return countdown && formatCountdown(countdown)
  }

  test.each([
    [0.4, 'less than a minute'],
    [1.9, '1 min'],
    [90, '1 h 30 min'],
    [360, '6 h'],
    [24 * 60 + 5, '1 day'],
    [51 * 60 + 20, '2 days 3 h'],
  ])('%s minutes are %s', (minutes, span) => expect(formatMinutes(minutes)).toBe(span))

  test('counts down to the deadline, then to the alert, then up', () => {
    expect(say({})).toBe('in 3 h 20 min')
    expect(say({ nextDue: minutesAhead(-5) })).toBe('passed, alert in 10 min')
    expect(say({ nextDue: minutesAhead(-40) })).toBe('passed, alert in less than a minute')
    expect(say({ nextDue: minutesAhead(-40), state: 'overdue' })).toBe('passed 40 min ago')
  })

  test('does not matter once the check-in has ended', () => {
    expect([say({ state: 'completed' }), say({ state: 'cancelled' })]).toEqual([null, null])
  })
})

describe('the form of a check-in', () => {
  test('starts with the chosen device and a full hour ahead', () => {
    const body = watchBodyOf({ ...newWatchDraft('dev_7', NOW), name: ' Crossing ' })
    expect(body).toMatchObject({
      name: 'Crossing',
      deviceId: 'dev_7',
      due: '2027-03-03T18:00:00.000Z',
      alertName: server.WATCH_ALERT,
      remindMinutes: 30,
    })
    expect(body).not.toHaveProperty('everyMinutes')
    expect(newWatchDraft(null, NOW).devices).toEqual([])
  })

  test('sends an interval of hours and minutes, and no deadline', () => {
    const draft = { ...newWatchDraft('dev_1', NOW), kind: 'every' as const }
    const body = watchBodyOf({ ...draft, hours: '1', minutes: '45', remindMinutes: ' ' })
    expect(body).toMatchObject({ everyMinutes: 105, remindMinutes: null })
    expect(body).not.toHaveProperty('due')
  })

  test('leaves it to the service to refuse what is no number', () => {
    const draft = { ...newWatchDraft('dev_1', NOW), kind: 'every' as const }
    const body = watchBodyOf({ ...draft, hours: 'six', graceMinutes: '', remindMinutes: 'x' })
    expect(body).toMatchObject({ everyMinutes: 'six:0', graceMinutes: '', remindMinutes: 'x' })
  })

  test.each([
    watch(),
    watch({ due: null, everyMinutes: 385, remindMinutes: 20, alertName: 'Late', emergency: true }),
    watch({ remindMinutes: 0, counts: 'checkIn', notifications: [] }),
  ])('changes nothing that was not changed', (stored) => {
    const body = watchBodyOf(watchDraftOf(stored, NOW))
    expect(stored).toMatchObject(body)
  })

  test('shows the deadline to which it was extended', () => {
    const extended = watch({ nextDue: minutesAhead(500) })
    expect(watchDraftOf(extended, NOW).due).toBe(minutesAhead(500))
  })

  test('extends from the deadline, or from now if that has passed', () => {
    expect(extendedDue(minutesAhead(30), 60, NOW)).toBe(minutesAhead(90))
    expect(extendedDue(minutesAhead(-30), 60, NOW)).toBe(minutesAhead(60))
  })
})

describe('the list of check-ins', () => {
  const all = [
    watch({ id: 'old', state: 'completed', nextDue: minutesAhead(-900) }),
    watch({ id: 'later' }),
    watch({ id: 'recent', state: 'completed', nextDue: minutesAhead(-90) }),
    watch({ id: 'soon', nextDue: minutesAhead(3), name: 'Áncora bar' }),
    watch({ id: 'off', state: 'cancelled', deviceId: 'dev_2' }),
    watch({ id: 'missed', state: 'overdue', nextDue: minutesAhead(-20), deviceId: 'dev_2' }),
  ]
  const shown = (query: string) =>
    sortWatches(all)
      .filter((one) => isShown(one, readWatchFilters(new URLSearchParams(query))))
      .map(({ id }) => id)

  test('has what is most urgent first', () => {
    expect(shown('show=all')).toEqual(['missed', 'soon', 'later', 'recent', 'old', 'off'])
  })

  test.each([
    ['', ['missed', 'soon', 'later']],
    ['show=nonsense', ['missed', 'soon', 'later']],
    ['show=overdue', ['missed']],
    ['show=completed', ['recent', 'old']],
    ['show=cancelled', ['off']],
    ['show=all&device=dev_2', ['missed', 'off']],
    ['name=áncora', ['soon']],
  ])('shows by ?%s %j', (query, ids) => expect(shown(query)).toEqual(ids))
})
