import { createHmac } from 'node:crypto'

/*
 * An ack is the progress that it speaks for, signed with the secret of its stream. A client cannot
 * know it before it has read the message that carries it.
 */

/** How much has been sent or acknowledged since the stream was opened. */
export interface Progress {
  events: number
  bytes: number
}

const SIGNATURE_CHARS = 16

/** Signs with node:crypto, because WebCrypto is asynchronous: state could change before sending. */
export const makeAck = (secret: string, { events, bytes }: Progress): string => {
  const text = `${events}.${bytes}`
  const signature = createHmac('sha256', secret).update(text).digest('base64url')
  return `${text}.${signature.slice(0, SIGNATURE_CHARS)}`
}

/** Null for an ack that was not made with this secret. */
export const readAck = (secret: string, ack: string): Progress | null => {
  const [events = Number.NaN, bytes = Number.NaN] = ack.split('.').map(Number)
  const progress = { events, bytes }
  return makeAck(secret, progress) === ack ? progress : null
}
