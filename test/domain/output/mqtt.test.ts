import { describe, expect, test } from 'vitest'
import { payloadOf, toHttpUrl, topicOf } from '../../../src/domain/output/mqtt.ts'
import {
  CONNACK,
  connectPacket,
  PUBACK,
  publishPacket,
  readPacket,
} from '../../../src/domain/output/mqttPackets.ts'

const device = { id: 'dev_1', name: 'Tern', identifier: '3004', model: '', tags: {} }

describe('packets', () => {
  test('connect with a password alone has an empty user name', () => {
    const bytes = connectPacket({ clientId: 'c', userName: null, password: 'p' })
    const expected = [0x10, 18, 0, 4, 77, 81, 84, 84, 4, 0xc2, 0, 60, 0, 1, 99, 0, 0, 0, 1, 112]
    expect([...bytes]).toEqual(expected)
  })

  test('a long packet has a length of several bytes', () => {
    const bytes = publishPacket(258, 't', 'x'.repeat(16_384))
    expect([...bytes.subarray(0, 9)]).toEqual([0x32, 0x85, 0x80, 0x01, 0, 1, 116, 1, 2])
    const found = readPacket(bytes)
    expect([found?.packet.type, found?.packet.body.length, found?.rest.length]).toEqual([
      3, 16_389, 0,
    ])
  })

  test('are read in parts and one after another', () => {
    const bytes = new Uint8Array([0x20, 2, 0, 5, 0x40, 2, 0, 1])
    for (const size of [0, 1, 2, 3]) expect(readPacket(bytes.subarray(0, size))).toBeNull()
    const first = readPacket(bytes)
    expect(first?.packet).toEqual({ type: CONNACK, body: new Uint8Array([0, 5]) })
    const second = readPacket(first?.rest ?? bytes)
    expect(second?.packet).toEqual({ type: PUBACK, body: new Uint8Array([0, 1]) })
  })

  test('a length without an end is refused', () => {
    expect(() => readPacket(new Uint8Array([0x20, 255, 255, 255, 255, 1]))).toThrow(RangeError)
  })
})

describe('topics', () => {
  test.each([
    [device, undefined, 'perigee/3004'],
    [{ ...device, identifier: null, name: '3004' }, null, 'perigee/dev_1'],
    [{ ...device, identifier: '30/04' }, null, 'perigee/dev_1'],
    [{ ...device, name: 'a\ufdd0\u{1ffff}' }, 'x\ufffe/{name}', 'x_/a__'],
    [{ ...device, name: 'a/+/#\u0000' }, 'x/{name}', 'x/a_____'],
    [{ ...device, name: '$SYS' }, '{name}/y', '_SYS/y'],
    [{ ...device, name: '{device}' }, '{name}', '{device}'],
    [{ ...device, name: '$&' }, 'x/{name}', 'x/$&'],
  ])('%o by %s is %s', (of, topic, expected) => {
    expect(topicOf(of, { topic })).toBe(expected)
  })
})

test('the payload has our id only of a device without an identifier', () => {
  const record = { device, id: 'evt_1', sequence: 1, time: 0, latitude: 1, longitude: 2 }
  expect(JSON.parse(payloadOf(record))).toEqual({
    event: 'evt_1',
    device: '3004',
    name: 'Tern',
    time: '1970-01-01T00:00:00.000Z',
    latitude: 1,
    longitude: 2,
  })
  const unnamed = { ...record, device: { ...device, identifier: null } }
  expect(JSON.parse(payloadOf(unnamed)).device).toBe('dev_1')
})

test('the payload of an alert has its time beside that of the position', () => {
  const alert = { name: 'SOS', text: '', time: 60_000, isEmergency: true, isTest: false }
  const record = { device, id: 'evt_1', sequence: 1, time: 0, latitude: 1, longitude: 2, alert }
  expect(JSON.parse(payloadOf(record))).toMatchObject({
    time: '1970-01-01T00:00:00.000Z',
    alert: { name: 'SOS', time: '1970-01-01T00:01:00.000Z' },
  })
})

test('only the scheme of a WebSocket becomes http', () => {
  expect(toHttpUrl('wss://a.example/ws:')).toBe('https://a.example/ws:')
  expect(toHttpUrl('https://a.example/')).toBe('https://a.example/')
})
