import { expect, test } from 'vitest'
import { LINK_MARK } from '../../../src/domain/message/link.ts'
import type { AlertDetails } from '../../../src/domain/message/text/messageText.ts'
import { composeCall, toSpoken } from '../../../src/domain/message/text/voiceText.ts'

const NOON = Date.UTC(2026, 2, 3, 12)

const details = (alert: object = {}, members: object = {}): AlertDetails => ({
  purpose: { kind: 'alert' },
  alert: {
    id: 'alr_1',
    name: 'SOSButton',
    text: '',
    dateTime: NOON,
    latitude: 41.5,
    longitude: -8.25,
    positionTime: NOON,
    positionSource: 'reported',
    emergency: true,
    late: false,
    ...alert,
  },
  motion: {},
  deviceName: 'Tern 7',
  identifier: null,
  origin: 'https://perigee.test',
  ...members,
})

const spoken = (alert?: object, members?: object) =>
  composeCall(details(alert, members), 'UTC').text

test('a call names the emergency, the device, the time and the place, and has no link', () => {
  expect(spoken()).toMatch(/^Emergency\. SOS button from Tern 7, .*12:00.*\. Position: /)
  expect(spoken()).toContain('41.50 degrees north, 8.25 degrees west.')
  for (const part of ['https:', LINK_MARK]) expect(spoken()).not.toContain(part)
  expect(spoken({ place: '4.2 km NE of Ovar' })).toContain(
    'Position: 4.2 kilometres north east of Ovar.',
  )
  expect(spoken({ latitude: null, longitude: null, positionSource: 'none' })).toContain(
    'Its position is not known.',
  )
})

test('a call says why it is made, and that a drill is one', () => {
  const purpose = { kind: 'escalation', round: 1 }
  expect(spoken({}, { purpose })).toMatch(/^Emergency\. Nobody has acknowledged this yet\. SOS/)
  expect(spoken({ test: true })).toMatch(/^This is a test\. There is no emergency\. /)
  expect(spoken({ emergency: false, name: 'LowBattery' })).not.toContain('Emergency')
})

test('long names and texts are cut, on one line', () => {
  const text = spoken(
    { name: 'n'.repeat(64), text: 'Help\n'.repeat(400) },
    { deviceName: 'd'.repeat(300) },
  )
  expect(text).not.toContain('\n')
  expect(text.length).toBeLessThan(560)
})

test('only a direction before a place is spoken out', () => {
  expect(toSpoken('800 m S of Ílhavo')).toBe('800 metres south of Ílhavo')
  expect(toSpoken('in Porto')).toBe('in Porto')
})
