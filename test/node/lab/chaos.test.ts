import { expect, test } from 'vitest'
import { auditCell, auditDevices, auditLicenses } from '../../../lab/chaos/audit.mjs'
import { newDevice } from '../../../lab/chaos/deeds.mjs'
import { differences } from '../../../lab/harness/state.mjs'

/** A service that shows what it is told to, a page to a path. */
const showing = (pages: Record<string, object>) => async (_: string, path: string) => {
  const page = Object.entries(pages).find(
    ([known]) =>
      path === known || path.startsWith(`${known}?limit`) || path.startsWith(`${known}&limit`),
  )
  if (!page) throw new Error(`nothing is shown at ${path}`)
  return { nextCursor: null, ...page[1] }
}

const acknowledged = (name: string, more: object = {}) => ({
  ...newDevice(name),
  id: `dev_${name}`,
  ...more,
})
const shown = (name: string, more: object = {}) => ({
  id: `dev_${name}`,
  name,
  description: '',
  state: 'active',
  ...more,
})
const audit = (devices: object[], known: object[], locations: object[] = []) =>
  auditDevices(
    showing({ '/api/devices': { devices }, '/api/devices/dev_tern/locations': { locations } }),
    known,
  )

test('what was acknowledged and is there, once and as it was, is no fault', async () => {
  const at = '2026-11-01T00:00:00.000Z'
  const tern = acknowledged('tern', { times: new Set([at]) })
  expect(await audit([shown('tern')], [tern, newDevice('refused')], [{ dateTime: at }])).toEqual({
    lost: [],
    double: [],
  })
})

test('an acknowledged write that is not there is lost', async () => {
  const lost = async (devices: object[], known: object) =>
    (await audit(devices, [known])).lost.length
  expect(await lost([], acknowledged('tern'))).toBe(1)
  expect(await lost([shown('tern')], acknowledged('tern', { description: 'edit 1' }))).toBe(1)
  expect(await lost([shown('tern')], acknowledged('tern', { expired: true }))).toBe(1)
  expect(
    await lost(
      [shown('tern')],
      acknowledged('tern', { times: new Set(['2026-11-01T00:00:00.000Z']) }),
    ),
  ).toBe(1)
})

test('what is there twice, or was never acknowledged, is double', async () => {
  const double = async (devices: object[], known: object[], locations: object[] = []) =>
    (await audit(devices, known, locations)).double.length
  expect(await double([shown('tern'), shown('tern')], [acknowledged('tern')])).toBe(1)
  expect(await double([shown('tern')], [acknowledged('tern', { gone: true })])).toBe(1)
  expect(await double([shown('tern')], [newDevice('tern')])).toBe(1)
  expect(await double([shown('tern')], [])).toBe(1)
  expect(
    await double(
      [shown('tern')],
      [acknowledged('tern')],
      [{ dateTime: '2026-11-01T00:00:00.000Z' }],
    ),
  ).toBe(1)
})

test('a license log is held to its total and to itself, line by line', async () => {
  const faults = async (entries: object[], used = 1, active = [shown('tern')]) => {
    const pages = {
      '/api/account/licenses/log': { entries: entries.toReversed() },
      '/api/account': { account: { licenses: { used } } },
      '/api/devices?state=active': { devices: active },
    }
    return (await auditLicenses(showing(pages))).faults.length
  }
  const line = (what: string, deviceId: string, used: number, total = 1) => ({
    what,
    deviceId,
    used,
    total,
  })
  expect(
    await faults([
      line('granted', 'a', 1),
      line('released', 'a', 0),
      line('refused', 'c', 0),
      line('granted', 'b', 1),
    ]),
  ).toBe(0)
  expect(
    await faults([line('granted', 'a', 1), line('granted', 'b', 2)], 2, [shown('a'), shown('b')]),
  ).toBe(1)
  expect(await faults([line('granted', 'a', 1), line('granted', 'a', 1)])).toBe(1)
  expect(await faults([line('granted', 'a', 1)], 2)).toBe(1)
  expect(await faults([line('granted', 'a', 1), line('released', 'a', 1)], 0, [])).toBe(1)
})

test('a cell that had to be mended is told', async () => {
  const cell = (devices: number) =>
    auditCell(async () => ({ mended: { account: 0, devices }, nextCursor: null }), 'acc_1')
  expect(await cell(0)).toEqual([])
  expect(await cell(2)).toEqual(['2 × devices differed from the ledger'])
})

test('two states differ where a row does', () => {
  expect(differences({ '/api/devices': [1] }, { '/api/devices': [1] })).toEqual([])
  expect(differences({ '/api/devices': [1] }, { '/api/devices': [1, 2] })).toEqual([
    '/api/devices: 1 rows before, 2 after',
  ])
})
