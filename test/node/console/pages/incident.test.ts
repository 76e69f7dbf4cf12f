import { describe, expect, test } from 'vitest'
import type { Delivery } from '../../../../console/api/types.ts'
import { findNearest } from '../../../../console/pages/alerts/incident/nearest.ts'
import { groupByPerson } from '../../../../console/pages/alerts/incident/recipients.ts'

const message = (
  id: string,
  to: string,
  {
    name = null,
    userId = null,
    status,
  }: { name?: string | null; userId?: string | null; status: Delivery['status'] },
): Delivery => ({
  id,
  to,
  name,
  userId,
  status,
  kind: 'alert',
  channel: to.includes('@') ? 'Email' : 'SMS',
  reason: null,
  resetAt: null,
  changedAt: '2026-11-14T09:30:00.000Z',
})

describe('who was notified of an emergency', () => {
  test('is grouped by person, with the best that became of the messages', () => {
    const people = groupByPerson([
      message('1', 'ana@example.org', { name: 'Ana', status: 'failed' }),
      message('2', 'bo@example.org', { name: 'Bo', status: 'failed' }),
      message('3', '+351900000', { name: 'Ana', status: 'delivered' }),
      message('4', 'bo@example.org', { name: 'Bo', status: 'suppressed' }),
      message('5', 'guard@example.org', { status: 'sent' }),
      message('6', '+351911111', { status: 'queued' }),
      { ...message('7', 'psh_1', { status: 'sent' }), channel: 'Push' },
    ])
    expect(
      people.map(({ name, reached, deliveries }) => [name, reached, deliveries.length]),
    ).toEqual([
      ['Ana', 'reached', 2],
      ['Bo', 'not-reached', 2],
      ['guard@example.org', 'sent', 1],
      ['+351911111', 'waiting', 1],
      ['A browser', 'sent', 1],
    ])
  })
})

describe('people of the same name', () => {
  test('are told apart', () => {
    const people = groupByPerson([
      message('1', 'ana@example.org', { name: 'Ana', userId: 'usr_1', status: 'delivered' }),
      message('2', 'other@example.org', { name: 'Ana', userId: 'usr_2', status: 'failed' }),
      message('3', '+351900000', { name: 'Ana', userId: 'usr_1', status: 'failed' }),
      message('4', 'harbour@example.org', { name: 'Ana', status: 'queued' }),
    ])
    expect(
      people.map(({ name, reached, deliveries }) => [name, reached, deliveries.length]),
    ).toEqual([
      ['Ana', 'reached', 2],
      ['Ana', 'not-reached', 1],
      ['Ana', 'waiting', 1],
    ])
  })
})

describe('the devices nearest to an emergency', () => {
  type Members = Parameters<typeof findNearest>[0]
  const member = (id: string, longitude: number | null) => ({
    device: { id, lastLocation: longitude === null ? null : { latitude: 0, longitude } },
    state: 'fresh',
  })

  test('are the five nearest others that have a position, with distance and bearing', () => {
    const members = [
      member('self', 179.5),
      member('nowhere', null),
      member('far', 0),
      member('west', 178),
      member('across', -179.5),
      ...[170, 171, 172].map((longitude) => member(`at ${longitude}`, longitude)),
    ] as unknown as Members
    const found = findNearest(members, { latitude: 0, longitude: 179.5 }, 'self')
    expect(found.map(({ device }) => device.id)).toEqual([
      'across',
      'west',
      'at 172',
      'at 171',
      'at 170',
    ])
    expect(found.slice(0, 2).map(({ bearing }) => Math.round(bearing))).toEqual([90, 270])
    expect((found[0]?.metres ?? 0) / 1000).toBeCloseTo(111.2, 0)
  })
})
