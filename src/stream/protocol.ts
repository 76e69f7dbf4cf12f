import * as z from 'zod'

/* What is said on a stream, either way, as JSON text. */

/** Answered without waking anything up: these very bytes. */
export const PING = '{"type":"ping"}'
export const PONG = '{"type":"pong"}'

export const SUBPROTOCOL = 'perigee'

/** Why a stream was closed. After any of these but the first two a reader resumes with `after`. */
export const CLOSE = {
  badMessage: { code: 4400, reason: 'bad message' },
  forbidden: { code: 4403, reason: 'the token does not have the scope read' },
  unauthorized: { code: 4401, reason: 'the token does not hold any more' },
  unacknowledged: { code: 4408, reason: 'events were not acknowledged in time' },
  tooMany: { code: 4429, reason: 'too many streams' },
  unavailable: { code: 1013, reason: 'try again later' },
} as const
export type Closing = keyof typeof CLOSE

/** So many events may be under way to a reader that has not acknowledged them, and for so long. */
export const WINDOW = 1000
export const ACKNOWLEDGE_WITHIN = 30_000

const clientMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('token'), token: z.string().max(4096) }),
  z.strictObject({ type: z.literal('ack'), sequence: z.int().min(0) }),
])
export type ClientMessage = z.output<typeof clientMessage>

const MOST_CHARACTERS = 8192

/** Null for anything that is not a message of the protocol. */
export const readMessage = (message: string | ArrayBuffer): ClientMessage | null => {
  if (typeof message !== 'string' || message.length > MOST_CHARACTERS) return null
  try {
    return clientMessage.parse(JSON.parse(message))
  } catch {
    return null
  }
}
