import { expect, test } from 'vitest'
import { printReport } from '../../../lab/bench/print.mjs'
import { listDelayedRows, listRows } from '../../../lab/bench/rows.mjs'

const send = (sent: string[], name: string) => async (method: string, path: string) => {
  sent.push(`${name} ${method} ${path}`)
  return { text: '1' }
}
const clients = (sent: string[], name: string) => {
  const account = { devices: ['dev_ruled'], call: send(sent, name) }
  return {
    api: send(sent, name),
    withoutToken: send(sent, name),
    withRule: account,
    withZones: account,
    withRules: account,
  }
}
const fixtureOf = (sent: string[]) => ({
  ...clients(sent, 'api'),
  bare: send(sent, 'bare'),
  notJoined: clients(sent, 'not joined'),
  devices: Array.from({ length: 200 }, (_, index) => `dev_${index}`),
  groups: ['grp_1'],
  accountId: 'acc_1',
  apiKey: 'key',
  keyId: 'key_1',
  deviceWithHistory: 'dev_0',
  pushPath: '/push',
})
const namedMixed = ({ name }: { name: string }) => name === 'mixed'

test('mixed sends the four requests in turn, to both sides', async () => {
  const sent: string[] = []
  const mixed = listRows(fixtureOf(sent)).find(namedMixed)
  for (let turn = 0; turn < 4; turn++) {
    await mixed.api()
    await mixed.bare()
  }
  expect(sent).toEqual([
    'api POST /api/devices/dev_1/locations',
    'bare POST /report/acc_1/dev_2',
    'api GET /api/devices/dev_1/lastLocation',
    'bare GET /lastLocation/acc_1/dev_2',
    'api GET /api/devices/dev_3',
    'bare GET /device/acc_1/dev_4',
    'api POST /api/Auth/Token',
    'bare GET /token/acc_1/bench/key_1',
  ])
})

test('with a delay the same requests go to the API that does not join', async () => {
  const sent: string[] = []
  const mixed = listDelayedRows(fixtureOf(sent)).find(namedMixed)
  expect(mixed.floors).toEqual({ 1: 0.97, 4: 0.97, 16: 0.97, 64: 0.97 })
  await mixed.api()
  await mixed.bare()
  expect(sent).toEqual([
    'api POST /api/devices/dev_1/locations',
    'not joined POST /api/devices/dev_1/locations',
  ])
})

test('each number of connections has a floor of its own', () => {
  const lines: string[] = []
  const at = [
    { connections: 1, api: 90, bare: 100, ratio: 0.9, floor: 0.85 },
    { connections: 16, api: 110, bare: 100, ratio: 1.1, floor: null },
    { connections: 64, api: 170, bare: 100, ratio: 1.7, floor: 1.8 },
  ]
  const missed = printReport(
    { machine: '', date: '', seconds: 1, rows: [{ name: 'mixed', at }] },
    { print: (line: string) => lines.push(line), hasThresholds: true },
  )
  expect(missed).toBe(1)
  expect(lines[2]).toMatch(/^mixed +90 +100 +0\.90 +≥ 0\.85 ✓ +110 +100 +1\.10 +170 +100 +1\.70 /)
  expect(lines[2]).toMatch(/≥ 1\.80 ✗$/)
})
