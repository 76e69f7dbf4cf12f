import { signal } from '@preact/signals'
import { call } from './client.ts'

/* Names of devices that other pages mention by their ids. */

/** Null for a device that was deleted or that the viewer may not see. */
const names = signal<ReadonlyMap<string, string | null>>(new Map())
const wanted = new Set<string>()
const MAX_IDS = 100
const GATHER_MS = 30
let isScheduled = false

const keep = (found: Iterable<readonly [string, string | null]>) => {
  names.value = new Map([...names.peek(), ...found])
}

const schedule = () => {
  if (!isScheduled) setTimeout(loadWanted, GATHER_MS)
  isScheduled = true
}

const loadWanted = async () => {
  isScheduled = false
  const ids = [...wanted].slice(0, MAX_IDS)
  for (const id of ids) wanted.delete(id)
  if (wanted.size > 0) schedule()
  try {
    const { devices } = await call('GET /api/devices', { query: { ids: ids.join() } })
    const found = new Map(devices.map(({ id, name }) => [id, name]))
    keep(ids.map((id) => [id, found.get(id) ?? null]))
  } catch {
    // The page shows the ids instead; the next page that mentions them asks again.
  }
}

/** The name of a device; undefined until it is loaded. */
export const deviceName = (id: string): string | null | undefined => {
  const name = names.value.get(id)
  if (name === undefined && !wanted.has(id)) {
    wanted.add(id)
    schedule()
  }
  return name
}

/** Spares a call for devices that a page has loaded anyway. */
export const rememberNames = (devices: readonly { id: string; name: string }[]): void =>
  keep(devices.map(({ id, name }) => [id, name]))
