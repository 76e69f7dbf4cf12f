import * as z from 'zod'
import {
  ACKNOWLEDGE_WITHIN,
  CLOSE,
  PING,
  PONG,
  SUBPROTOCOL,
  WINDOW,
  WINDOW_SIZE,
} from '../domain/stream.ts'
import { after, filterQuery } from '../events/contract.ts'
import { define } from '../http/contract.ts'

const CODES = Object.values(CLOSE).map(({ code, reason }) => `- \`${code}\` ${reason}`)

export const openStream = define({
  id: 'openStream',
  tag: 'Events',
  summary: 'Listen to what happens',
  description: [
    `A WebSocket. The token comes as a subprotocol, \`Sec-WebSocket-Protocol: ${SUBPROTOCOL}, bearer.<token>\`, or in the first message, \`{"type":"token","token":"…"}\`, within 10 seconds; never in the URL.`,
    'The service says `{"type":"ready","sequence":41,"lastSequence":42,"oldestSequence":1,"expires":"…"}` and then sends `{"type":"events","events":[…]}`, in sequence, up to 100 events at a time, the same as in the log. Where `oldestSequence` is past the one after `sequence`, what lies between is no longer kept.',
    `Acknowledge with \`{"type":"ack","sequence":42}\`, which speaks for all before it: at most ${WINDOW} events, or about ${WINDOW_SIZE / 1e6} MB of them, are sent beyond that, and a reader that makes no step forward in ${ACKNOWLEDGE_WITHIN / 1000} seconds is dropped. Whoever was away opens a new stream with \`after\`, and misses and repeats nothing.`,
    `The stream ends with its token unless a fresh one is sent on it, \`{"type":"token","token":"…"}\`, answered \`{"type":"token","expires":"…"}\`; and within 30 seconds of the end of its key. \`${PING}\` is answered \`${PONG}\`.`,
    `Closed with:\n${CODES.join('\n')}`,
  ].join('\n\n'),
  scope: 'read',
  upgrade: 'read',
  query: z.strictObject({
    after: after.optional().meta({
      description:
        'Begin after the event with this `sequence`; left out: with what happens from now on.',
      example: 41,
    }),
    ...filterQuery,
  }),
  reply: z.never(),
})
