import type { Caller } from './accounts.ts'
import type { Reply } from './http.ts'

/** Asks for a device and returns the whole reply, a refusal too. */
export const postDevice = (
  account: Caller,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> => account.call('POST', '/api/devices', { body, headers })

/** Creates a device with this name, or with these members, and returns its id. */
export const createDevice = async (
  account: Caller,
  given: string | object = {},
): Promise<string> => {
  const members = typeof given === 'string' ? { name: given } : given
  const reply = await postDevice(account, { name: 'Tern 7', ...members })
  if (reply.status !== 201) throw new Error(`no device: ${reply.text}`)
  return reply.body.device.id
}

export const readUsage = async (account: Caller, deviceId: string) =>
  (await account.call('GET', `/api/devices/${deviceId}`)).body.device.usage
