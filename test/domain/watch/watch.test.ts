import { expect, test } from 'vitest'
import {
  checkAtOf,
  checkIn,
  editProgress,
  extendWatch,
  isCheckIn,
  progressOf,
  settleWatch,
  startWatch,
  type Watch,
  type WatchRecord,
} from '../../../src/domain/watch/watch.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2027, 2, 3, 12)
const at = (minutes: number) => NOON + minutes * MINUTE

const watchOf = (given: Partial<WatchRecord> & { contact?: number } = {}): Watch => {
  const record: WatchRecord = {
    name: 'Crossing',
    due: null,
    everyMinutes: 60,
    graceMinutes: 10,
    counts: 'any',
    remindMinutes: 15,
    alertName: 'MissedCheckIn',
    emergency: false,
    notifications: [],
    ...given,
  }
  return {
    id: 'wat_1',
    accountId: 'acc_1',
    deviceId: 'dev_1',
    deviceKey: 1,
    contact: given.contact ?? 0,
    alertId: null,
    link: '',
    creation: NOON,
    lastModified: NOON,
    version: 1,
    ...record,
    ...startWatch(record, NOON),
  }
}
const BY_ONE = { due: at(60), everyMinutes: null }
const settled = (watch: Watch, minutes: number): Watch => ({
  ...watch,
  ...settleWatch(watch, at(minutes)).progress,
})

test('a person’s check-in counts for all, a report only where any contact does', () => {
  const counting = (['any', 'message', 'checkIn'] as const).map((counts) =>
    (['any', 'message', 'checkIn'] as const).filter((given) => isCheckIn({ counts }, given)),
  )
  expect(counting).toEqual([['any', 'message', 'checkIn'], ['message', 'checkIn'], ['checkIn']])
})

test('it is due at the reminder and overdue at the very end of the grace, each once', () => {
  const watch = watchOf()
  expect(checkAtOf(watch, watch)).toBe(at(45))
  expect(settleWatch(watch, at(45) - 1)).toMatchObject({ isDue: false, isOverdue: false })
  expect(settleWatch(watch, at(45))).toMatchObject({ isDue: true, isOverdue: false })
  const reminded = settled(watch, 45)
  expect(checkAtOf(reminded, reminded)).toBe(at(70))
  expect(settleWatch(reminded, at(70) - 1)).toMatchObject({ isDue: false, isOverdue: false })
  const over = settleWatch(reminded, at(70))
  expect(over).toMatchObject({ isDue: false, isOverdue: true, progress: { state: 'overdue' } })
  const later = settleWatch({ ...reminded, ...over.progress }, at(500))
  expect(later).toMatchObject({ isDue: false, isOverdue: false })
})

test('without a reminder it is due at the deadline', () => {
  const watch = watchOf({ remindMinutes: null })
  expect(settleWatch(watch, at(60) - 1).isDue).toBe(false)
  expect(settleWatch(watch, at(60)).isDue).toBe(true)
})

test('a check-in completes a deadline, also a late one, and sets an interval going again', () => {
  const byOne = settled(watchOf({ ...BY_ONE, counts: 'checkIn' }), 80)
  expect(byOne.state).toBe('overdue')
  expect(checkIn(byOne, progressOf(byOne), at(90))).toMatchObject({
    state: 'completed',
    lastCheckIn: at(90),
  })
  const every = settled(watchOf({ counts: 'checkIn' }), 80)
  expect(checkIn(every, progressOf(every), at(90))).toMatchObject({
    state: 'active',
    since: at(90),
    nextDue: at(150),
  })
})

test('a repeat of the last check-in and one from before the start change nothing', () => {
  const watch = watchOf({ counts: 'checkIn' })
  const once = checkIn(watch, progressOf(watch), at(30))
  const overdue = { ...once, state: 'overdue' as const }
  expect(checkIn(watch, overdue, at(30))).toBe(overdue)
  expect(checkIn(watch, overdue, at(20))).toBe(overdue)
  expect(checkIn(watch, once, at(-1))).toBe(once)
  const ended = { ...once, state: 'cancelled' as const }
  expect(checkIn(watch, ended, at(40))).toBe(ended)
})

test('a contact counts where any does, and only once', () => {
  expect(settleWatch(watchOf({ contact: at(50) }), at(71))).toEqual({
    progress: {
      state: 'active',
      since: at(50),
      nextDue: at(110),
      reminded: null,
      lastCheckIn: at(50),
    },
    checkedInAt: at(50),
    isDue: false,
    isOverdue: false,
  })
  const again = settled(watchOf({ contact: at(50) }), 71)
  expect(settleWatch(again, at(72)).checkedInAt).toBeNull()
  expect(settleWatch(watchOf({ contact: NOON }), at(71)).isOverdue).toBe(true)
  expect(settleWatch(watchOf({ contact: at(50), counts: 'message' }), at(71)).isOverdue).toBe(true)
  expect(settled(watchOf({ ...BY_ONE, contact: at(50) }), 51).state).toBe('completed')
})

test('what arrives after the alert sets an interval going again', () => {
  const overdue = settled(watchOf(), 70)
  const back = settleWatch({ ...overdue, contact: at(75) }, at(76))
  expect(back).toMatchObject({
    checkedInAt: at(75),
    progress: { state: 'active', nextDue: at(135) },
  })
})

test('an extension moves the deadline, and its reminder comes again', () => {
  const overdue = settled(watchOf(), 70)
  const watch = { ...overdue, ...extendWatch(progressOf(overdue), at(200), at(80)) }
  expect(watch.state).toBe('active')
  expect(checkAtOf(watch, watch)).toBe(at(185))
  // What was said before the extension is no check-in.
  expect(checkIn(watch, progressOf(watch), at(79))).toEqual(progressOf(watch))
  // A check-in before the deadline does not bring it forward.
  expect(checkIn(watch, progressOf(watch), at(100)).nextDue).toBe(at(200))
})

test('an edit starts the watch anew only with another promise', () => {
  const watch = { ...watchOf(), lastCheckIn: at(5), reminded: at(60) }
  expect(editProgress(watch, { ...watch, name: 'Other' }, at(30))).toEqual(progressOf(watch))
  expect(editProgress(watch, { ...watch, counts: 'message' }, at(30))).toEqual({
    ...progressOf(watch),
    since: at(30),
  })
  for (const change of [{ everyMinutes: 30 }, { deviceId: 'dev_2', everyMinutes: 30 }])
    expect(editProgress(watch, { ...watch, ...change }, at(30))).toEqual({
      state: 'active',
      since: at(30),
      nextDue: at(60),
      reminded: null,
      lastCheckIn: at(5),
    })
  const ended = { ...watch, state: 'completed' as const }
  expect(editProgress(ended, { ...ended, everyMinutes: 30 }, at(30))).toBeNull()
  expect(editProgress(ended, { ...ended, name: 'Other' }, at(30))?.state).toBe('completed')
})
