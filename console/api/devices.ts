import { call } from './client.ts'
import type { Device } from './types.ts'

const MAX_IDS = 100

/** Those of the devices that exist and that the viewer may see. */
export const readDevices = async (
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Device[]> => {
  const found: Device[] = []
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const query = { ids: ids.slice(at, at + MAX_IDS).join() }
    found.push(...(await call('GET /api/devices', { query, signal })).devices)
  }
  return found
}

/** Changes when other positions may be in quarantine. */
export const quarantineVersion = ({ quarantined, lastContact }: Device): unknown =>
  quarantined > 0 && [quarantined, lastContact]
