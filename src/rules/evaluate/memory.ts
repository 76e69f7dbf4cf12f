import type { DeviceName } from '../../db/queries/namedDevices.ts'
import { keptSince } from '../../domain/account/account.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { type Fix, firstFrom } from '../../domain/track/fix.ts'
import type { Segment } from './crossings.ts'
import { MAX_WINDOW, WINDOW_SIZES } from './report.ts'
import { MAX_TIME, type TrackWindow } from './window.ts'

/*
 * The last fixes of devices and those around the last late one, as this isolate has seen them, so
 * that most reports read nothing before they are stored. The guard of their INSERT checks them.
 */

export interface TrackDevice {
  key: number
  id: string
  maxSpeed: number
}

export interface Memory {
  accountId: string
  /** The token of the rules that the device's groups were read with. */
  version: string | null
  device: TrackDevice
  window: TrackWindow
  /** Its stays, as they are stored. */
  stays: string | null
}

/** The guard counts them, so they are few; devices that needed more keep more. */
const REMEMBERED_FIXES = 2
/** How many are remembered before and after a late one: as many as are read. */
const LATE_FIXES = WINDOW_SIZES[0]
/** All fixes that are remembered, those of one account, and what an entry takes beside its own. */
const [MAX_FIXES, MAX_ACCOUNT_FIXES] = [100_000, 50_000]
const ENTRY_FIXES = 8

const countFixes = ({ window }: Memory): number =>
  window.segments.reduce((sum, { stored }) => sum + stored.length, ENTRY_FIXES)

const memories = new BoundedCache<Memory>(MAX_FIXES, countFixes, {
  maxSize: MAX_ACCOUNT_FIXES,
  ownerOf: ({ accountId }) => accountId,
})

const keyOf = (accountId: string, [deviceId, identifierKey]: DeviceName): string =>
  deviceId ?? `${accountId} ${identifierKey}`

export const evictMemory = (accountId: string, name: DeviceName): void =>
  memories.delete(keyOf(accountId, name))

/** A part with the new fixes that are in it. */
const addFixes = (part: Segment, added: Fix[]): Segment => {
  const own = added.filter(({ time }) => time >= part.from && time <= part.to)
  return { ...part, stored: [...part.stored, ...own].sort((a, b) => a.time - b.time) }
}

/** The fixes of a part from the index `first` to before `end`. */
const cutPart = (part: Segment, first: number, end = part.stored.length): Segment => {
  const stored = part.stored.slice(Math.max(0, first), end)
  const isStart = part.isStart && first <= 0
  const isEnd = part.isEnd && end >= part.stored.length
  const from = isStart ? 0 : (stored[0]?.time ?? part.from)
  const to = isEnd ? MAX_TIME : (stored.at(-1)?.time ?? part.to)
  return { from, to, stored, isStart, isEnd }
}

/**
 * The end of the track with the new fixes, as far as it is known, and what is around the last late
 * one: a device that sends what it has kept sends the next one beside it.
 */
const partsOf = (known: Segment[], window: TrackWindow, used: number, added: Fix[]): Segment[] => {
  const unchanged = known.filter(({ from, to }) =>
    added.every(({ time }) => time < from || time > to),
  )
  let end = unchanged.find(({ isEnd }) => isEnd)
  let late = unchanged.find(({ isEnd }) => !isEnd)
  // A stay grows with every report, so the next size is kept.
  const size = used > WINDOW_SIZES[0] ? WINDOW_SIZES.find((each) => each > used) : REMEMBERED_FIXES
  const newest = added.at(-1)?.time ?? MAX_TIME
  for (const segment of window.segments) {
    const part = addFixes(segment, added)
    const { length } = part.stored
    const endAt = length - (size ?? MAX_WINDOW)
    if (part.isEnd) end = cutPart(part, endAt)
    const at = firstFrom(part.stored, newest)
    const isLate = part.stored[at]?.time === newest && !(part.isEnd && at === length - 1)
    if (!isLate) continue
    const near = cutPart(part, at - LATE_FIXES, at + 1 + LATE_FIXES)
    if (near.isEnd) end = cutPart(part, Math.min(endAt, at - LATE_FIXES))
    else late = near
  }
  return [late, end].filter((part) => part !== undefined)
}

/** Remembers parts of the device's track, once the new fixes are stored. */
export const remember = (
  name: DeviceName,
  { window, used, ...memory }: Memory & { used: number },
  added: Fix[],
): void => {
  const { accountId, version } = memory
  const key = keyOf(accountId, name)
  const known = memories.get(key)
  const segments = known?.version === version ? known.window.segments : []
  const parts = partsOf(segments, window, used, added)
  if (parts.length > 0) memories.set(key, { ...memory, window: { ...window, segments: parts } })
  else memories.delete(key)
}

/**
 * Whether a part suffices for a fix: its oldest fix must still be kept, since one that is deleted
 * while another comes leaves the number the same. Except at the end of the track it needs as many
 * fixes as would be read.
 */
const suffices = ({ stored, isStart, isEnd }: Segment, time: number, since: number): boolean => {
  if ((stored[0]?.time ?? MAX_TIME) < since) return false
  if (isEnd) return true
  const before = firstFrom(stored, time)
  const after = stored.length - firstFrom(stored, time + 1)
  return (isStart || before >= LATE_FIXES) && after >= LATE_FIXES
}

/** Nothing for a location that is too old: the account may keep more by now. */
const findPart = (window: TrackWindow, sent: Fix[], now: number): Segment | undefined => {
  const since = keptSince(now, window.retentionDays)
  return window.segments.find((part) =>
    sent.every(
      ({ time }) =>
        time >= since && time >= part.from && time <= part.to && suffices(part, time, since),
    ),
  )
}

interface Recalled {
  accountId: string
  name: DeviceName
  sent: Fix[]
  version: string | null
  now: number
}

/** What is remembered of a device, if that suffices for its new fixes. */
export const recall = ({ accountId, name, sent, version, now }: Recalled): Memory | null => {
  const memory = memories.get(keyOf(accountId, name))
  const part = memory?.version === version && findPart(memory.window, sent, now)
  return part ? { ...memory, window: { ...memory.window, segments: [part] } } : null
}
