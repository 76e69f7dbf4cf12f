import { describe, expect, test } from 'vitest'
import { formatRecords, type HttpFormat } from '../../../src/domain/output/formats.ts'
import {
  alertLanesOf,
  isInLane,
  markSandbox,
  nameForOthers,
  type OutputRecord,
  webhookOfLane,
} from '../../../src/domain/output/output.ts'

const device = { id: 'dev_1', name: 'Tern', identifier: '3004', model: '', tags: {} }
const HOUR = 3_600_000
const at = (hours: number) => new Date(hours * HOUR).toISOString()
const alert = { name: 'SOS', text: '', time: 5 * HOUR, isEmergency: true, isTest: false }
const record: OutputRecord = {
  device,
  id: 'evt_1',
  sequence: 1,
  time: 2 * HOUR,
  latitude: 1,
  longitude: 2,
  alert,
}
const bodyOf = (format: HttpFormat, of: OutputRecord) =>
  formatRecords(format, [of], {})[0]?.body ?? ''

describe('an alert with an older position', () => {
  test.each(['earthranger', 'gundi'] as const)('has its own time in %s', (format) => {
    const [observation] = JSON.parse(bodyOf(format, record))
    expect(observation.recorded_at).toBe('1970-01-01T05:00:00.002Z')
    expect(observation.additional).toMatchObject({ alert_time: at(5), position_time: at(2) })
  })

  test.each(['earthranger', 'gundi'] as const)(
    'is not at the time of a position in %s',
    (format) => {
      const [observation] = JSON.parse(bodyOf(format, { ...record, time: alert.time }))
      expect(observation.recorded_at).toBe('1970-01-01T05:00:00.002Z')
      expect(observation.additional.alert_time).toBe(at(5))
    },
  )

  test.each(['earthranger', 'gundi'] as const)(
    'is not at the time of another of the position in %s',
    (format) => {
      const times = [1, 2].map((sequence) => {
        const [{ recorded_at }] = JSON.parse(bodyOf(format, { ...record, sequence }))
        return recorded_at
      })
      expect(new Set(times).size).toBe(2)
    },
  )

  test('has both times in traccar', () => {
    const { event, position } = JSON.parse(bodyOf('traccar', record))
    expect(event.eventTime).toBe(at(5))
    expect(position).toMatchObject({ fixTime: at(2), deviceTime: at(5), outdated: true })
  })

  test('a position alone has one time', () => {
    const alone = { ...record, alert: undefined }
    const { position } = JSON.parse(bodyOf('traccar', alone))
    expect(position).toMatchObject({ fixTime: at(2), deviceTime: at(2), outdated: false })
    const [observation] = JSON.parse(bodyOf('earthranger', alone))
    expect([observation.recorded_at, Object.keys(observation.additional)]).toEqual([
      at(2),
      ['event'],
    ])
  })
})

describe('what a sandbox sends says so', () => {
  const marked = markSandbox(record)

  test('in cot, at an emergency too', () => {
    const body = bodyOf('cot', marked)
    expect(body).toContain('callsign="[Sandbox] Tern-Alert"')
    expect(body).toContain('<emergency type="911 Alert">[Sandbox] Tern</emergency>')
    expect(body).toContain('<remarks>[Sandbox] SOS')
  })

  test('in the others', () => {
    const [ranger] = JSON.parse(bodyOf('earthranger', marked))
    expect(ranger).toMatchObject({ subject_name: '[Sandbox] Tern', additional: { sandbox: true } })
    const [gundi] = JSON.parse(bodyOf('gundi', marked))
    expect(gundi).toMatchObject({ source_name: '[Sandbox] Tern', additional: { sandbox: true } })
    const traccar = JSON.parse(bodyOf('traccar', marked))
    expect(traccar.device.name).toBe('[Sandbox] Tern')
    expect(traccar.position.attributes).toMatchObject({ sandbox: true, message: '[Sandbox] SOS' })
  })
})

test('no device is named by an identifier that looks like the id of another', () => {
  const nameOf = (identifier: string | null) => nameForOthers({ ...device, identifier })
  expect([nameOf('3004'), nameOf(null), nameOf('dev_2'), nameOf('DEV_2')]).toEqual([
    '3004',
    'dev_1',
    'dev_1',
    'dev_1',
  ])
})

describe('lanes', () => {
  const lanes = ['whk_1', ...alertLanesOf('whk_1')]
  const laneOf = (type: string, data: Record<string, unknown> = {}) =>
    lanes.filter((lane) => isInLane(lane, 'cot', { type, data }))

  test('each event is in one lane, and a test is no emergency', () => {
    expect(laneOf('location.reported')).toEqual(['whk_1'])
    expect(laneOf('alert.raised')).toEqual(['whk_1:alerts'])
    expect(laneOf('alert.raised', { emergency: true, test: true })).toEqual(['whk_1:alerts'])
    expect(laneOf('alert.raised', { emergency: true })).toEqual(['whk_1:emergencies'])
    expect(laneOf('alert.updated', { emergency: true })).toEqual(['whk_1:emergencies'])
    expect(laneOf('device.created')).toEqual([])
    expect(lanes.map(webhookOfLane)).toEqual(['whk_1', 'whk_1', 'whk_1'])
  })
})
