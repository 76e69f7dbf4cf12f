import { deviceName } from '../api/deviceNames.ts'

/** The name of a device, as a link to it unless `isPlain`. */
export const DeviceName = ({ id, isPlain = false }: { id: string; isPlain?: boolean }) => {
  const name = deviceName(id) ?? '…'
  return isPlain ? <span>{name}</span> : <a href={`/devices/${id}`}>{name}</a>
}
