import { expect, test } from 'vitest'
import { toCot } from '../../../src/domain/output/cot.ts'

const MINUTE = 60_000
const device = { id: 'dev_1', name: 'Tern', identifier: '3004', model: '', tags: {} }
const alert = { name: 'SOSButton', text: '', time: 100 * MINUTE, isEmergency: true, isTest: false }
const record = { device, id: 'evt_1', sequence: 1, time: 30 * MINUTE, latitude: 1, longitude: 2 }
const timesIn = (body: string) =>
  ['time', 'start', 'stale'].map(
    (name) => Date.parse(new RegExp(` ${name}="([^"]+)"`).exec(body)?.[1] ?? '') / MINUTE,
  )

test('an emergency with an old position is not stale when it is sent', () => {
  const { body } = toCot({ ...record, alert }, { staleMinutes: 10 }, 500 * MINUTE)
  expect(timesIn(body)).toEqual([100, 100, 510])
  const remark = 'SOSButton (position of 1970-01-01T00:30:00.000Z, 70 min before the alert)'
  expect(body).toContain(`<remarks>${remark}</remarks>`)
})

test('an emergency with its own position says nothing about its age', () => {
  const own = { ...record, time: alert.time, alert }
  expect(toCot(own, {}, alert.time).body).toContain('<remarks>SOSButton</remarks>')
})

test('a position and a drill are as old as the position', () => {
  for (const more of [{}, { alert: { ...alert, isTest: true } }])
    expect(timesIn(toCot({ ...record, ...more }, {}, 500 * MINUTE).body)).toEqual([30, 30, 90])
})
