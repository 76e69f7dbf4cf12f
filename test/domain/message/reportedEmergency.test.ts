import { expect, test } from 'vitest'
import {
  findEmergencies,
  mayCarryEmergency,
} from '../../../src/domain/message/reportedEmergency.ts'

const at = (dateTime: number, more: object = {}) => ({
  dateTime,
  latitude: 0,
  longitude: 0,
  ...more,
})

test('names of the account raise, others do not, and hasCriticalAlert raises CriticalAlert', () => {
  const both = at(1, { alerts: ['Offline', 'SOSButton', 7], hasCriticalAlert: true })
  expect(findEmergencies([both], ['SOSButton'])).toEqual([
    { name: 'SOSButton', location: both },
    { name: 'CriticalAlert', location: both },
  ])
  expect(findEmergencies([both], ['7'])).toEqual([
    { name: '7', location: both },
    { name: 'CriticalAlert', location: both },
  ])
  expect(findEmergencies([at(1, { alerts: ['Offline'] })], ['SOSButton'])).toEqual([])
  expect(findEmergencies([at(1, { hasCriticalAlert: false })], ['SOSButton'])).toEqual([])
})

test('a name raises once for a report, at the newest location that carries it', () => {
  const [first, newest] = [at(1, { alerts: ['SOSButton'] }), at(3, { alerts: ['SOSButton'] })]
  const report = [first, newest, at(2, { alerts: ['SOSButton'] }), at(9)]
  expect(findEmergencies(report, ['SOSButton'])).toEqual([{ name: 'SOSButton', location: newest }])
})

test('an ordinary report needs no names', () => {
  expect(mayCarryEmergency(at(1))).toBe(false)
  expect(mayCarryEmergency(at(2, { hasCriticalAlert: false, alerts: [] }))).toBe(false)
  expect(mayCarryEmergency(at(2, { alerts: ['Offline'] }))).toBe(true)
  expect(mayCarryEmergency(at(1, { hasCriticalAlert: true }))).toBe(true)
})
