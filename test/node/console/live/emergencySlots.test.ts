import { describe, expect, test } from 'vitest'
import type { Alert } from '../../../../console/api/types.ts'
import {
  ENDED_SHOWN_MS,
  type Ending,
  nextSlots,
  type Slot,
} from '../../../../console/app/emergencySlots.ts'

const alert = (id: string, minute: number): Alert =>
  ({ id, dateTime: `2026-11-14T09:${minute}:00.000Z` }) as Alert
const [a, b, c] = [alert('a', 30), alert('b', 31), alert('c', 32)]

const show = (slots: readonly Slot[]) =>
  slots.map(({ alert: { id }, ended }) => (ended ? `(${id})` : id)).join(' ')

const arrange = (before: readonly Slot[], open: readonly Alert[], at = 0, ends: string[] = []) => {
  const endings = new Map(
    ends.map((id) => [id, { as: 'acknowledged' as Ending, isMine: true }] as const),
  )
  return nextSlots(before, { open, endings, at })
}

describe('the places of emergencies in the bar', () => {
  test('are in the order of raising at first', () => {
    expect(show(arrange([], [c, a, b]))).toBe('a b c')
  })

  test('stay when one arrives, also one that was raised earlier and came late', () => {
    const slots = arrange([], [b])
    expect(show(arrange(slots, [c, b]))).toBe('b c')
    expect(show(arrange(slots, [a, b]))).toBe('b a')
  })

  test('stay for a time after one has ended', () => {
    const slots = arrange(arrange([], [a, b]), [b, c], 1000, ['a'])
    expect(show(slots)).toBe('(a) b c')
    expect(slots[0]?.ended).toEqual({ as: 'acknowledged', isMine: true, at: 1000 })
    expect(show(arrange(slots, [b, c], 999 + ENDED_SHOWN_MS))).toBe('(a) b c')
    expect(show(arrange(slots, [b, c], 1000 + ENDED_SHOWN_MS))).toBe('b c')
  })

  test('say what became known after one had ended', () => {
    const slots = arrange(arrange([], [a, b]), [b], 1000)
    expect(slots[0]?.ended).toEqual({ as: 'unknown', isMine: false, at: 1000 })
    const [first] = arrange(slots, [b], 2000, ['a'])
    expect(first?.ended).toEqual({ as: 'acknowledged', isMine: true, at: 1000 })
  })

  test('are those from before when one is reopened in that time', () => {
    const slots = arrange(arrange([], [a, b]), [b], 1000)
    expect(show(arrange(slots, [b, a], 2000))).toBe('a b')
  })

  test('come last for one that is reopened later', () => {
    const slots = arrange(arrange([], [a, b]), [b], 0)
    expect(show(arrange(arrange(slots, [b], ENDED_SHOWN_MS), [a, b], 20_000))).toBe('b a')
  })
})
