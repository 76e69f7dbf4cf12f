import { liveSecrets } from '../../auth/token.ts'
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

const MAC_BYTES = 12

export const makeAck = async (
  env: Env,
  streamId: string,
  { events, bytes }: Progress,
): Promise<string> => {
  const [signer] = await liveSecrets(env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  const text = `${events}.${bytes}`
  const signed = new TextEncoder().encode(`ack ${streamId} ${text}`)
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', signer.key, signed))
  const start = mac.subarray(0, MAC_BYTES)
  return `${text}.${start.toBase64({ alphabet: 'base64url', omitPadding: true })}`
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
