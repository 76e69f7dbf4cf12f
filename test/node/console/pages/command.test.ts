import { expect, test } from 'vitest'
import {
  bodyOf,
  commandText,
  EMPTY_COMMAND,
  fieldOf,
  isComplete,
  KINDS,
} from '../../../../console/pages/devices/conversation/command.ts'
import { garminChannel } from '../../../../src/commands/garmin.ts'

const draft = { ...EMPTY_COMMAND, content: '4142', seconds: '600' }
const credentials = { sender: 'ops@fleet.example', apiKey: 'k' }

const isBytes = (kind: string) => kind === 'hex' || kind === 'base64'

test.each(KINDS.filter((kind) => !isBytes(kind)))(
  'Garmin takes what the form sends: %s',
  (kind) => {
    const { command, format = 'Text' } = bodyOf({ ...draft, kind })
    const toSend = { identifier: '300434060000000', now: 0, command, format: format ?? 'Text' }
    expect(garminChannel.compose(toSend, credentials)).not.toHaveProperty('refused')
  },
)

test('bytes name their format', () => {
  expect(bodyOf({ ...draft, kind: 'hex', content: ' 4142 ' })).toEqual({
    command: '4142',
    format: 'Hex',
  })
  expect(bodyOf({ ...draft, kind: 'base64', content: 'QUI=' }).format).toBe('Base64')
})

test('an SMS is text, whatever was chosen before', () => {
  const sms = { ...draft, way: 'sms', kind: 'interval' } as const
  expect(bodyOf(sms)).toEqual({ command: '4142', format: 'Text', sms: true })
  expect(fieldOf(sms)).toBe('content')
})

test('nothing is sent without its text or seconds', () => {
  expect(isComplete({ ...draft, content: ' ' })).toBe(false)
  expect(isComplete({ ...draft, kind: 'interval', seconds: '' })).toBe(false)
  expect(isComplete({ ...draft, kind: 'locate', content: '' })).toBe(true)
})

test('orders are shown in words, and what was written on the device as it is', () => {
  const stored = {
    id: 'cmd_1',
    received: false,
    status: 'sent',
    format: 'Text',
    sms: false,
    creation: '',
    answer: null,
  } as const
  expect(commandText({ ...stored, command: '/locate' })).toBe('Ask for the position')
  expect(commandText({ ...stored, command: '/interval 600' })).toBe(
    'Change the interval: every 600 s',
  )
  expect(commandText({ ...stored, command: '/locate', received: true })).toBe('/locate')
})
