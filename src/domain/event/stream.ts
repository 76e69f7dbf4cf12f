/* The messages of a live stream: JSON text in both directions. */

/** The platform answers exactly these bytes without waking the feed. */
export const PING = '{"type":"ping"}'
export const PONG = '{"type":"pong"}'

export const SUBPROTOCOL = 'perigee'

/** Why the service closes a stream. */
export const CLOSE = {
  badMessage: { code: 4400, reason: 'a message or the parameter after is not valid' },
  unauthorized: { code: 4401, reason: 'the token is no longer valid' },
  forbidden: { code: 4403, reason: 'the token does not have the scope read' },
  unacknowledged: { code: 4408, reason: 'events were not acknowledged in time' },
  tooMany: { code: 4429, reason: 'the account has too many open streams' },
  tooManyRequests: { code: 4429, reason: 'the account has made too many requests in this minute' },
  unavailable: { code: 1013, reason: 'try again later' },
} as const
export type Closing = keyof typeof CLOSE

const NORMAL_CLOSURE = 1000
const NO_CODE_RECEIVED = [1005, 1006]

/** The code to close the other side with: 1005 and 1006 mean that none came and cannot be sent. */
export const sendableCode = (code: number): number =>
  NO_CODE_RECEIVED.includes(code) ? NORMAL_CLOSURE : code

/** How many events may be sent to a subscriber beyond the last that it acknowledged. */
export const MAX_UNACKED_EVENTS = 1000
/** The same in bytes: they stay in memory until sent, and a socket does not say when. */
export const MAX_UNACKED_BYTES = 2_000_000
/** The same for all streams of an account together. */
export const MAX_TOTAL_UNACKED_BYTES = 16_000_000
export const ACK_TIMEOUT_MS = 30_000

export type ClientMessage = { type: 'token'; token: string } | { type: 'ack'; ack: string }

const MAX_MESSAGE_CHARS = 8192

const parseObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Null unless the message has exactly the members of its type. */
export const readMessage = (message: unknown): ClientMessage | null => {
  if (typeof message !== 'string' || message.length > MAX_MESSAGE_CHARS) return null
  const { type, token, ack, ...others } = parseObject(message)
  if (Object.keys(others).length > 0) return null
  if (type === 'token' && typeof token === 'string' && ack === undefined) return { type, token }
  if (type === 'ack' && typeof ack === 'string' && token === undefined) return { type, ack }
  return null
}
