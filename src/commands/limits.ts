import { smsSegments } from '../domain/message/gsm7.ts'

/* How long a command may be, by the network that carries it. */

export const MAX_GARMIN_TEXT = 160
export const MAX_GARMIN_BYTES = 268
export const MAX_ROCKBLOCK_BYTES = 270
const MAX_SMS_SEGMENTS = 3

export const isSmsTooLong = (text: string): boolean => smsSegments(text) > MAX_SMS_SEGMENTS
export const SMS_LIMIT = `An SMS may take at most ${MAX_SMS_SEGMENTS} segments.`
