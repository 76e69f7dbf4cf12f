import { describe, expect, test } from 'vitest'
import { changesBetween, HIDDEN } from '../../../src/domain/admin/audit.ts'

describe('what the audit says of a change', () => {
  test('only members that differ, with what they were and are', () => {
    const before = {
      name: 'Harbour',
      color: '#ff0000',
      version: 3,
      notify: { sms: true, email: true },
    }
    const after = { name: 'Old harbour', color: '#ff0000', notify: { sms: false, email: true } }
    expect(changesBetween(before, after)).toEqual([
      { path: 'name', from: 'Harbour', to: 'Old harbour' },
      { path: 'notify/sms', from: true, to: false },
    ])
    expect(
      changesBetween(null, { name: 'New', description: '', min: null, tags: {}, devices: [] }),
    ).toEqual([{ path: 'name', from: null, to: 'New' }])
  })

  test('of lists, what was removed and what was added', () => {
    const changes = changesBetween({ devices: ['a', 'b', 'c'] }, { devices: ['b', 'd'] })
    expect(changes).toEqual([{ path: 'devices', from: ['a', 'c'], to: ['d'] }])
  })

  test('secrets and positions are hidden wherever they are', () => {
    const secret = 'do-not-show'
    const shown = changesBetween(
      { password: null, shape: { center: [1.25, 2.5] } },
      {
        password: secret,
        url: `https://example.com/${secret}`,
        settings: { apiKey: secret, encryptionKey: secret, userName: 'shown' },
        shape: { type: 'Circle', center: [-9.125, 38.75] },
        lastKnown: { latitude: 38.75, longitude: -9.125 },
        places: [{ latitude: 38.75 }],
        keys: { p256dh: secret, auth: secret },
      },
    )
    const text = JSON.stringify(shown)
    expect(text).not.toMatch(/do-not-show|38\.75|9\.125|1\.25/)
    expect(text).toContain('shown')
    expect(shown).toContainEqual({ path: 'password', from: null, to: HIDDEN })
    expect(shown).toContainEqual({ path: 'shape', from: HIDDEN, to: HIDDEN })
  })

  test('is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`member${at}`, at]))
    expect(changesBetween({}, many)).toHaveLength(50)
    const [list, text] = changesBetween(null, {
      list: Array.from({ length: 30 }, (_, at) => at),
      text: 'x'.repeat(1000),
    })
    expect(list?.to).toHaveLength(21)
    expect(list?.to).toContain('… 10 more')
    expect(text?.to).toBe(`${'x'.repeat(200)}…`)
  })

  test('shows instants as times, and no other number', () => {
    const at = Date.UTC(2026, 10, 18)
    const values = { expires: at, radius: 500, storageBytes: 9_007_199_254_740_991 }
    expect(changesBetween(null, values).map(({ to }) => to)).toEqual([
      '2026-11-18T00:00:00.000Z',
      500,
      9_007_199_254_740_991,
    ])
  })
})
