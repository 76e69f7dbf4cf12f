/* What is said on a live stream, either way, as JSON text. */

/** Answered without waking anything up: these very bytes. */
export const PING = '{"type":"ping"}'
export const PONG = '{"type":"pong"}'

export const SUBPROTOCOL = 'perigee'

/** Why a stream was closed. */
export const CLOSE = {
  badMessage: { code: 4400, reason: 'a message, or the number to begin after, made no sense' },
  unauthorized: { code: 4401, reason: 'the token does not hold any more' },
  forbidden: { code: 4403, reason: 'the token does not have the scope read' },
  unacknowledged: { code: 4408, reason: 'events were not acknowledged in time' },
  tooMany: { code: 4429, reason: 'the account has too many streams' },
  tooManyRequests: { code: 4429, reason: 'the account has made too many requests in this minute' },
  unavailable: { code: 1013, reason: 'try again later' },
} as const
export type Closing = keyof typeof CLOSE

/** So many events may be under way to a reader that has not acknowledged them, and for so long. */
export const WINDOW = 1000
/** The same in characters: what is under way is held in memory, and nobody here can ask how much of it has gone out. */
export const WINDOW_SIZE = 2_000_000
export const ACKNOWLEDGE_WITHIN = 30_000

export type ClientMessage = { type: 'token'; token: string } | { type: 'ack'; sequence: number }

const MAX_CHARACTERS = 8192

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Null for anything that is not, to the member, a message of the protocol. */
export const readMessage = (message: unknown): ClientMessage | null => {
  if (typeof message !== 'string' || message.length > MAX_CHARACTERS) return null
  const { type, token, sequence, ...more } = parse(message)
  if (Object.keys(more).length > 0) return null
  if (type === 'token' && typeof token === 'string' && sequence === undefined)
    return { type, token }
  if (
    type === 'ack' &&
    Number.isSafeInteger(sequence) &&
    Number(sequence) >= 0 &&
    token === undefined
  )
    return { type, sequence: Number(sequence) }
  return null
}
