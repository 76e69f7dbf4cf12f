import { Perigee, type PerigeeError, type Schemas } from '../src/index.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { EXIT, Failure } from './failure.ts'
import { note } from './terminal/output.ts'

export type Device = Schemas['Device']
export type Location = Schemas['Location']

export const newClient = (credentials: Credentials): Perigee => new Perigee(credentials)

export const openClient = async (): Promise<Perigee> => newClient(await readCredentials())

/** Says on stderr if the account is a sandbox, so that nobody takes its devices for real ones. */
export const noteSandbox = (sandbox: Schemas['Sandbox'] | null): void => {
  if (!sandbox) return
  const end = sandbox.erasesAt ? ` It is erased on ${sandbox.erasesAt.slice(0, 10)}.` : ''
  note(`This account is a sandbox: its devices are simulated, and it sends no messages.${end}`)
}

const MAX_NAMED = 5
/** The service has none that is longer, and refuses to look for it. */
const MAX_IDENTIFIER = 64

/** The device that an id, an identifier or a name means. */
export const findDevice = async (
  perigee: Perigee,
  given: string,
  signal: AbortSignal,
): Promise<Device> => {
  if (/^dev_[a-z0-9]+$/.test(given)) {
    const path = { deviceId: given }
    return (await perigee.get('/api/devices/{deviceId}', { path, signal })).device
  }
  const query = { identifier: given }
  if (given.length <= MAX_IDENTIFIER)
    for await (const device of perigee.list('/api/devices', { query, signal })) return device
  const named: Device[] = []
  for await (const device of perigee.list('/api/devices', { query: { q: given }, signal }))
    if (device.name.toLowerCase() === given.toLowerCase()) named.push(device)
  const [device] = named
  if (!device) throw new Failure(`There is no device with the id, identifier or name “${given}”.`)
  if (named.length > 1)
    throw new Failure(
      `${named.length} devices are named “${given}”. Use an identifier or an id:`,
      EXIT.failed,
      named.slice(0, MAX_NAMED).map(({ id, identifier }) => `  ${id}  ${identifier ?? ''}`),
    )
  return device
}

/** Why there was no reply: `ECONNREFUSED`, or what else is known. */
const networkReason = ({ cause }: PerigeeError): string => {
  const inner = ((cause as Error | undefined)?.cause ?? cause) as NodeJS.ErrnoException | undefined
  return inner?.code ?? inner?.message ?? 'no reply'
}

/** The sentence, the exit code and what is wrong in detail. */
export const explainProblem = (error: PerigeeError): Failure => {
  if (error.status === 0)
    return new Failure(
      `The service cannot be reached (${networkReason(error)}). Check the network and the address.`,
      EXIT.unavailable,
    )
  const details = error.errors.map(({ pointer, detail }) => `  ${pointer} ${detail}`)
  if (error.requestId) details.push(`  request ${error.requestId}`)
  if (error.status === 401)
    return new Failure(`${error.detail} Run perigee login.`, EXIT.credentials)
  if (error.status === 403) return new Failure(error.detail, EXIT.credentials, details)
  const isUnavailable = error.status === 429 || error.status >= 500
  return new Failure(error.detail, isUnavailable ? EXIT.unavailable : EXIT.failed, details)
}
