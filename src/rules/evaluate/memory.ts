import type { DeviceName } from '../../db/queries/namedDevices.ts'
import { keptSince } from '../../domain/account/account.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import type { Fix } from '../../domain/track/fix.ts'
import { MAX_WINDOW, WINDOW_SIZES } from './report.ts'
import { MAX_TIME, type TrackWindow } from './window.ts'

/*
 * The last fixes of devices, as this isolate has seen them, so that most reports read nothing before
 * they are stored. The guard of their INSERT checks what is remembered.
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

/** The end of the track with the new fixes, or nothing when the window did not reach it. */
const endOf = (window: TrackWindow, used: number, added: Fix[]): TrackWindow | null => {
  const segment = window.segments.at(-1)
  if (!segment?.isEnd) return null
  const own = added.filter(({ time }) => time >= segment.from)
  const all = [...segment.stored, ...own].sort((a, b) => a.time - b.time)
  // A stay grows with every report, so the next size is kept.
  const size = used > WINDOW_SIZES[0] ? WINDOW_SIZES.find((each) => each > used) : REMEMBERED_FIXES
  const kept = all.slice(-(size ?? MAX_WINDOW))
  const isStart = segment.isStart && kept.length === all.length
  const from = isStart ? 0 : (kept[0]?.time ?? 0)
  return { ...window, segments: [{ from, to: MAX_TIME, stored: kept, isStart, isEnd: true }] }
}

/** Remembers the device's last fixes, once the new ones are stored. */
export const remember = (
  name: DeviceName,
  { window, used, ...memory }: Memory & { used: number },
  added: Fix[],
): void => {
  const { accountId } = memory
  const end = endOf(window, used, added)
  if (end) memories.set(keyOf(accountId, name), { ...memory, window: end })
  else evictMemory(accountId, name)
}

/** False also for a location that is too old: the account may keep more by now. */
const covers = (window: TrackWindow, sent: Fix[], now: number): boolean => {
  const since = keptSince(now, window.retentionDays)
  return sent.every(
    ({ time }) =>
      time >= since && window.segments.some(({ from, to }) => time >= from && time <= to),
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
  return memory?.version === version && covers(memory.window, sent, now) ? memory : null
}
