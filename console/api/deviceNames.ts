import { signal } from '@preact/signals'
import { live } from '../live/stream.ts'
import { call } from './client.ts'

/* Names of devices by id, loaded together when a page needs several. */

const names = signal<ReadonlyMap<string, string>>(new Map())
let wanted = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined
const MAX_IDS = 100

export const rememberNames = (devices: readonly { id: string; name: string }[]): void => {
  if (devices.every(({ id, name }) => names.peek().get(id) === name)) return
  names.value = new Map([...names.peek(), ...devices.map(({ id, name }) => [id, name] as const)])
}

const load = async (): Promise<void> => {
  const ids = [...wanted].slice(0, MAX_IDS)
  wanted = new Set([...wanted].slice(MAX_IDS))
  const { devices } = await call('GET /api/devices', { query: { ids: ids.join() } })
  const found = new Map(devices.map(({ id, name }) => [id, name]))
  // A deleted device has no name; its id stands for it.
  rememberNames(ids.map((id) => ({ id, name: found.get(id) ?? id })))
  if (wanted.size > 0) schedule()
}

const schedule = (): void => {
  clearTimeout(timer)
  timer = setTimeout(() => void load().catch(() => undefined), 30)
}

/** The device's name, or null while it is loaded. Re-renders when it arrives. */
export const deviceName = (id: string): string | null => {
  const known = names.value.get(id)
  if (known !== undefined) return known
  if (!wanted.has(id)) {
    wanted.add(id)
    schedule()
  }
  return null
}

live.on(['device.updated'], ({ data }) => {
  if (typeof data.deviceId === 'string' && typeof data.name === 'string')
    rememberNames([{ id: data.deviceId, name: data.name }])
})
