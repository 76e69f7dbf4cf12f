import {
  bytesOf,
  type Channel,
  type CommandToSend,
  type Credentials,
  NOT_IN_FORMAT,
  type ProviderRequest,
} from './channel.ts'
import { MAX_GARMIN_BYTES, MAX_GARMIN_TEXT } from './limits.ts'

/*
 * Garmin IPC Inbound. It knows no idempotency key: a request that may have been accepted is never
 * sent again.
 */

const VERSION_2 = 'ipcinbound.inreachapp.com'
const MIN_INTERVAL = 30
const MAX_INTERVAL = 65_535

/** Paths of version 2 and of version 1. */
const PATHS = {
  message: ['/api/Messaging/Message', '/IPCInbound/V1/Messaging.svc/Message'],
  binary: ['/api/Messaging/Binary', '/IPCInbound/V1/Messaging.svc/Binary'],
  locate: ['/api/Location/SendLocationRequest', '/IPCInbound/V1/Location.svc/LocationRequest'],
  tracking: ['/api/Tracking/Tracking', '/IPCInbound/V1/Tracking.svc/Tracking'],
  interval: ['/api/Tracking/Interval', '/IPCInbound/V1/Tracking.svc/Interval'],
} as const

const hostOf = ({ host }: Credentials): string => host ?? VERSION_2
const isVersion2 = (credentials: Credentials): boolean => hostOf(credentials) === VERSION_2

/** In UTF-8: `btoa` takes no other characters than those of Latin-1. */
const basicAuth = ({ userName, password }: Credentials): string =>
  `Basic ${new TextEncoder().encode(`${userName}:${password}`).toBase64()}`

const authOf = (credentials: Credentials): Record<string, string> =>
  isVersion2(credentials)
    ? { 'X-API-Key': credentials.apiKey ?? '' }
    : { Authorization: basicAuth(credentials) }

const post = (
  credentials: Credentials,
  path: keyof typeof PATHS,
  body: unknown,
): ProviderRequest => ({
  url: `https://${hostOf(credentials)}${PATHS[path][isVersion2(credentials) ? 0 : 1]}`,
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...authOf(credentials) },
  body: JSON.stringify(body),
})

/** Version 1 asks for a location by GET. */
const locate = (credentials: Credentials, imei: string): ProviderRequest => {
  if (isVersion2(credentials)) return post(credentials, 'locate', { IMEI: [imei] })
  const request = post(credentials, 'locate', null)
  const url = `${request.url}?IMEI=${encodeURIComponent(imei)}`
  return { ...request, url, method: 'GET', body: null }
}

const isInterval = (seconds: number): boolean => seconds >= MIN_INTERVAL && seconds <= MAX_INTERVAL
const WRONG_INTERVAL = `The interval must be ${MIN_INTERVAL} to ${MAX_INTERVAL} seconds.`

/** Words that begin with a slash are orders to the device, not text for its user. */
const prepareOrder = (credentials: Credentials, imei: string, order: string) => {
  if (order === '/locate')
    return { request: locate(credentials, imei), result: 'The location request costs a message.' }
  const [, name, amount = ''] = /^\/(tracking|interval) (off|\d{1,6})$/.exec(order) ?? []
  if (!name)
    return { refused: 'Orders are /locate, /tracking 600, /tracking off and /interval 600.' }
  if (amount === 'off') {
    if (name === 'interval') return { refused: WRONG_INTERVAL }
    const body = { Devices: [{ Imei: imei, Tracking: false }] }
    return { request: post(credentials, 'tracking', body), result: 'Tracking is switched off.' }
  }
  const seconds = Number(amount)
  if (!isInterval(seconds)) return { refused: WRONG_INTERVAL }
  const device = { Imei: imei, Interval: seconds }
  const result = `The interval is ${seconds} of at most ${MAX_INTERVAL} seconds.`
  return name === 'tracking'
    ? { request: post(credentials, name, { Devices: [{ ...device, Tracking: true }] }), result }
    : { request: post(credentials, 'interval', { Devices: [device] }), result }
}

const prepareText = (credentials: Credentials, { identifier, command, now }: CommandToSend) => {
  if (command.length > MAX_GARMIN_TEXT)
    return {
      refused: `The text has ${command.length} characters; Garmin takes at most ${MAX_GARMIN_TEXT}.`,
    }
  const message = {
    Recipients: [identifier],
    Sender: credentials.sender ?? '',
    Timestamp: `/Date(${now})/`,
    Message: command,
  }
  return {
    request: post(credentials, 'message', { Messages: [message] }),
    result: `${command.length} of at most ${MAX_GARMIN_TEXT} characters.`,
  }
}

export const garminChannel: Channel = {
  hasCredentials: (credentials) =>
    !!credentials.sender &&
    (isVersion2(credentials)
      ? !!credentials.apiKey
      : !!credentials.userName && !!credentials.password),
  compose: (command, credentials) => {
    if (command.format === 'Text')
      return command.command.startsWith('/')
        ? prepareOrder(credentials, command.identifier, command.command)
        : prepareText(credentials, command)
    const bytes = bytesOf(command)
    if (!bytes) return { refused: NOT_IN_FORMAT }
    if (bytes.byteLength > MAX_GARMIN_BYTES)
      return {
        refused: `The payload has ${bytes.byteLength} bytes; Garmin takes at most ${MAX_GARMIN_BYTES}.`,
      }
    const message = { Recipients: [command.identifier], Type: 1, Payload: bytes.toBase64() }
    return {
      request: post(credentials, 'binary', { Messages: [message] }),
      result: `${bytes.byteLength} of at most ${MAX_GARMIN_BYTES} bytes.`,
    }
  },
  read: (status, body) => {
    const answer = body.slice(0, 500)
    if (status >= 200 && status < 300) return { status: 'sent', answer }
    const mayHaveAccepted = status >= 500 || status === 408
    return { status: mayHaveAccepted ? 'unknown' : 'failed', answer: `${status} ${answer}` }
  },
}
