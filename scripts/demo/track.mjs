// Reports where the devices of the demo are, through the public API.
import { setTimeout as sleep } from 'node:timers/promises'
import { locationAt, reportTimes } from '../../src/domain/sandbox/travel.ts'

const TRACK_MS = 5 * 86_400_000
const HOUR_MS = 3_600_000
const MAX_LOCATIONS = 1000
/** Each device reports about once in this time while the server runs. */
const ROUND_MS = 60_000
const MAX_PAUSE_MS = 60_000

/** Reports what is missing since the device's last location: at first, several days of track. */
export async function reportTrack(client, member, now) {
  const { state, silentHours, lastAt } = member
  if (state !== 'active' || (silentHours && lastAt > 0)) return
  const until = silentHours ? now - silentHours * HOUR_MS : now
  const times = reportTimes(member, Math.max(lastAt, now - TRACK_MS), until)
  if (!silentHours) times.push(now)
  for (let start = 0; start < times.length; start += MAX_LOCATIONS) {
    const part = times.slice(start, start + MAX_LOCATIONS)
    await client.post(`/api/devices/${member.id}/locations`, {
      locations: part.map((at) => ({
        ...locationAt(member, at),
        dateTime: new Date(at).toISOString(),
      })),
    })
    member.lastAt = part.at(-1)
  }
}

/**
 * Moves the fleet until the signal aborts: one report at a time, the devices in turn. After a
 * failure it waits, each time twice as long. A device that is gone or expired is left out.
 */
export async function moveFleet(client, members, signal) {
  const moving = members.filter(({ state, silentHours }) => state === 'active' && !silentHours)
  const interval = Math.ceil(ROUND_MS / Math.max(1, moving.length))
  let pause = interval
  while (moving.length > 0 && !signal.aborted) {
    const member = moving.shift()
    try {
      await reportTrack(client, member, Date.now())
      moving.push(member)
      pause = interval
    } catch ({ status }) {
      if (status !== 404 && status !== 409) {
        moving.push(member)
        pause = Math.min(pause * 2, MAX_PAUSE_MS)
      }
    }
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
