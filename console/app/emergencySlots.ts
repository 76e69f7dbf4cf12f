import type { Alert } from '../api/types.ts'

/*
 * The places of emergencies in the bar. They are in the order in which they came here, and one that
 * ended keeps its place for a time: a click must not reach another than the one it was meant for.
 */

/** For so long an acknowledgement can be undone. */
export const ENDED_SHOWN_MS = 10_000

export type Ending = 'acknowledged' | 'resolved' | 'cancelled' | 'unknown'

export interface Slot {
  alert: Alert
  /** Null while the emergency is open. */
  ended: { as: Ending; at: number; isMine: boolean } | null
}

interface Now {
  open: readonly Alert[]
  /** How those ended that are no longer open, as far as it is known. */
  endings: ReadonlyMap<string, { as: Ending; isMine: boolean }>
  at: number
}

const UNKNOWN = { as: 'unknown', isMine: false } as const

/** Open ones keep their places, new ones come last. */
export const nextSlots = (before: readonly Slot[], { open, endings, at }: Now): Slot[] => {
  const byId = new Map(open.map((alert) => [alert.id, alert]))
  const shown = new Set(before.map(({ alert }) => alert.id))
  const kept = before.flatMap((slot): Slot[] => {
    const alert = byId.get(slot.alert.id)
    if (alert) return [{ alert, ended: null }]
    const known = endings.get(slot.alert.id) ?? slot.ended ?? UNKNOWN
    const ended = { ...known, at: slot.ended?.at ?? at }
    return at - ended.at < ENDED_SHOWN_MS ? [{ ...slot, ended }] : []
  })
  const added = open
    .filter(({ id }) => !shown.has(id))
    .sort((a, b) => a.dateTime.localeCompare(b.dateTime))
  return [...kept, ...added.map((alert) => ({ alert, ended: null }))]
}
