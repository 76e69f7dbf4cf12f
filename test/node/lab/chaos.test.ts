import { expect, test } from 'vitest'
import { auditCell, auditDevices, auditLicenses } from '../../../lab/chaos/audit.mjs'
import { auditEmergencies } from '../../../lab/chaos/auditAlerts.mjs'
import { compareReports } from '../../../lab/chaos/joinedKills.mjs'
import { expectedDevice } from '../../../lab/chaos/operations.mjs'
import { describeDifferences } from '../../../lab/harness/accountState.mjs'

/** A `call` that answers with fixed pages, by path. */
const answerWith = (pages: Record<string, object>) => async (_: string, path: string) => {
  const page = Object.entries(pages).find(
    ([known]) =>
      path === known || path.startsWith(`${known}?limit`) || path.startsWith(`${known}&limit`),
  )
  if (!page) throw new Error(`no page for ${path}`)
  return { nextCursor: null, ...page[1] }
}

const acknowledged = (name: string, more: object = {}) => ({
  ...expectedDevice(name),
  id: `dev_${name}`,
  ...more,
})
const listed = (name: string, more: object = {}) => ({
  id: `dev_${name}`,
  name,
  description: '',
  state: 'active',
  ...more,
})
const audit = (devices: object[], known: object[], locations: object[] = []) =>
  auditDevices(
    answerWith({ '/api/devices': { devices }, '/api/devices/dev_tern/locations': { locations } }),
    known,
  )

test('an acknowledged device that exists once, unchanged, is no fault', async () => {
  const at = '2026-11-01T00:00:00.000Z'
  const tern = acknowledged('tern', { times: new Set([at]) })
  expect(
    await audit([listed('tern')], [tern, expectedDevice('refused')], [{ dateTime: at }]),
  ).toEqual({
    lost: [],
    duplicated: [],
  })
})

test('an acknowledged write that is missing is lost', async () => {
  const countLost = async (devices: object[], known: object) =>
    (await audit(devices, [known])).lost.length
  expect(await countLost([], acknowledged('tern'))).toBe(1)
  expect(await countLost([listed('tern')], acknowledged('tern', { description: 'edit 1' }))).toBe(1)
  expect(await countLost([listed('tern')], acknowledged('tern', { isExpired: true }))).toBe(1)
  expect(
    await countLost(
      [listed('tern')],
      acknowledged('tern', { times: new Set(['2026-11-01T00:00:00.000Z']) }),
    ),
  ).toBe(1)
})

test('what exists twice or was never acknowledged is duplicated', async () => {
  const countDuplicated = async (devices: object[], known: object[], locations: object[] = []) =>
    (await audit(devices, known, locations)).duplicated.length
  expect(await countDuplicated([listed('tern'), listed('tern')], [acknowledged('tern')])).toBe(1)
  expect(await countDuplicated([listed('tern')], [acknowledged('tern', { isDeleted: true })])).toBe(
    1,
  )
  expect(await countDuplicated([listed('tern')], [expectedDevice('tern')])).toBe(1)
  expect(await countDuplicated([listed('tern')], [])).toBe(1)
  expect(
    await countDuplicated(
      [listed('tern')],
      [acknowledged('tern')],
      [{ dateTime: '2026-11-01T00:00:00.000Z' }],
    ),
  ).toBe(1)
})

test('the license log may not exceed its total or contradict itself', async () => {
  const countFaults = async (entries: object[], used = 1, active = [listed('tern')]) => {
    const pages = {
      '/api/account/licenses/log': { entries: entries.toReversed() },
      '/api/account': { account: { licenses: { used } } },
      '/api/devices?state=active': { devices: active },
    }
    return (await auditLicenses(answerWith(pages))).faults.length
  }
  const entry = (what: string, deviceId: string, used: number, total = 1) => ({
    what,
    deviceId,
    used,
    total,
  })
  expect(
    await countFaults([
      entry('granted', 'a', 1),
      entry('released', 'a', 0),
      entry('refused', 'c', 0),
      entry('granted', 'b', 1),
    ]),
  ).toBe(0)
  expect(
    await countFaults([entry('granted', 'a', 1), entry('granted', 'b', 2)], 2, [
      listed('a'),
      listed('b'),
    ]),
  ).toBe(1)
  expect(await countFaults([entry('granted', 'a', 1), entry('granted', 'a', 1)])).toBe(1)
  expect(await countFaults([entry('granted', 'a', 1)], 2)).toBe(1)
  expect(await countFaults([entry('granted', 'a', 1), entry('released', 'a', 1)], 0, [])).toBe(1)
})

test('an acknowledged emergency has an alert or joined one, and someone is notified', async () => {
  const [first, later] = ['2026-11-01T00:00:00.000Z', '2026-11-01T00:10:00.000Z']
  const audited = async (alerts: object[], messages: object[] = []) => {
    const pages = {
      '/api/account/messages': { messages },
      '/api/devices/dev_tern/alerts?alertName=SOSButton': { alerts },
    }
    const tern = acknowledged('tern', { emergencies: new Set([first, later]) })
    const { lost, duplicated, counts } = await auditEmergencies(answerWith(pages), [tern])
    return [lost.length, duplicated.length, counts.joined]
  }
  const alert = (dateTime: string, joined: string[] = [], status = 'sent') => ({
    id: `alr_${dateTime}`,
    dateTime,
    updates: joined.map((one) => ({ dateTime: one })),
    deliveries: [{ status }],
  })
  const notice = { kind: 'notice', status: 'sent', alertId: `alr_${first}` }
  expect(await audited([alert(first, [later])])).toEqual([0, 0, 1])
  expect(await audited([alert(first), alert(later)])).toEqual([0, 0, 0])
  expect(await audited([alert(first)])).toEqual([1, 0, 0])
  expect(await audited([alert(first, [later]), alert(later)])).toEqual([0, 1, 1])
  expect(await audited([alert(first, [later, '2026-12-01T00:00:00.000Z'])])).toEqual([0, 1, 2])
  expect(await audited([alert(first, [later], 'suppressed')])).toEqual([1, 0, 1])
  expect(await audited([alert(first, [later], 'suppressed')], [notice])).toEqual([0, 0, 1])
  expect(
    await audited([alert(first, [later], 'suppressed')], [{ ...notice, status: 'suppressed' }]),
  ).toEqual([1, 0, 1])
})

test('a row that reconcile had to correct is a fault', async () => {
  const cell = (devices: number) =>
    auditCell(async () => ({ mended: { account: 0, devices }, nextCursor: null }), 'acc_1')
  expect(await cell(0)).toEqual([])
  expect(await cell(2)).toEqual(['2 × devices differed from the ledger'])
})

test('two states differ where an item does', () => {
  expect(describeDifferences({ '/api/devices': [1] }, { '/api/devices': [1] })).toEqual([])
  expect(describeDifferences({ '/api/devices': [1] }, { '/api/devices': [1, 2] })).toEqual([
    '/api/devices: 1 items before, 2 after',
  ])
})

test('a report around a joined commit is whole, or absent when it was not acknowledged', () => {
  const times = ['2026-11-01T00:00:00.000Z', '2026-11-01T00:00:01.000Z']
  const reportOf = (account: string, reply: object | null) => ({
    device: { ...acknowledged(account), account },
    times,
    reply,
  })
  const compare = (
    stored: Record<string, string[]>,
    reply: object | null = null,
    at = 'before',
  ) => {
    const found = Object.entries(stored).map(
      ([account, own]) => [`dev_${account}`, new Set(own)] as const,
    )
    const reports = [reportOf('a', null), reportOf('b', null), reportOf('c', reply)]
    const { whole, absent, faults } = compareReports(
      reports,
      new Map(found),
      `${at} a joined commit`,
    )
    return [whole, absent, faults.length]
  }
  const part = times.slice(1)
  expect(compare({ c: times }, {})).toEqual([0, 2, 0])
  expect(compare({ a: times, b: times }, null, 'after')).toEqual([2, 1, 0])
  expect(compare({ c: part }, {})).toEqual([0, 2, 1])
  expect(compare({ c: [] }, {})).toEqual([0, 2, 1])
  expect(compare({ c: part })).toEqual([0, 2, 1])
  // Nothing was interrupted that several accounts had sent.
  expect(compare({ a: times, b: times, c: times })).toEqual([3, 0, 1])
  expect(compare({ a: times }, null, 'after')).toEqual([1, 2, 1])
})
