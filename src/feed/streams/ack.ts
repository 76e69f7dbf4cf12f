import { sign } from '../../auth/signature.ts'
import type { Env } from '../../env.ts'

/*
 * An ack is the progress that it speaks for, signed together with the id of its stream. A client
 * cannot know it before it has read the message that carries it.
 */

/** How much has been sent or acknowledged since the stream was opened. */
export interface Progress {
  events: number
  bytes: number
}

/** Of the signature's 43 characters: 96 bits. */
const SIGNATURE_LENGTH = 16

export const makeAck = async (
  env: Env,
  streamId: string,
  { events, bytes }: Progress,
): Promise<string> => {
  const text = `${events}.${bytes}`
  const signature = await sign(env, `ack ${streamId} ${text}`)
  return `${text}.${signature.slice(0, SIGNATURE_LENGTH)}`
}

/** Null for an ack that was not made for this stream. */
export const readAck = async (
  env: Env,
  streamId: string,
  ack: string,
): Promise<Progress | null> => {
  const [events = Number.NaN, bytes = Number.NaN] = ack.split('.').map(Number)
  const progress = { events, bytes }
  return (await makeAck(env, streamId, progress)) === ack ? progress : null
}
