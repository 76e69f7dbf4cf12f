import { septets } from '../domain/message/gsm7.ts'

/* How long a command may be, by the network that carries it. */

export const MAX_GARMIN_TEXT = 160
export const MAX_GARMIN_BYTES = 268
export const MAX_ROCKBLOCK_BYTES = 270
const MAX_SMS_SEGMENTS = 3

/** How many SMS a text takes. */
export const smsSegments = (text: string): number => {
  const size = septets(text)
  const [one, more] = size === null ? [70, 67] : [160, 153]
  const length = size ?? text.length
  return length <= one ? 1 : Math.ceil(length / more)
}

export const isSmsTooLong = (text: string): boolean => smsSegments(text) > MAX_SMS_SEGMENTS
export const SMS_LIMIT = `An SMS may take at most ${MAX_SMS_SEGMENTS} segments.`
