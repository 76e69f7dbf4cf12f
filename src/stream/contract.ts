import * as z from 'zod'
import {
  ACK_TIMEOUT_MS,
  CLOSE,
  MAX_TOTAL_UNACKED_BYTES,
  MAX_UNACKED_BYTES,
  MAX_UNACKED_EVENTS,
  PING,
  PONG,
  SUBPROTOCOL,
} from '../domain/event/stream.ts'
import { after, filterQuery } from '../events/contract.ts'
import { define } from '../http/contract/contract.ts'

const CODES = Object.values(CLOSE).map(({ code, reason }) => `- \`${code}\` ${reason}`)

export const openStream = define({
  id: 'openStream',
  tag: 'Events',
  summary: 'Stream events as they happen',
  description: [
    `A WebSocket. Send the token as \`Authorization: Bearer <token>\`. Browsers, which cannot set that header, send it as a subprotocol, \`Sec-WebSocket-Protocol: ${SUBPROTOCOL}, bearer.<token>\`, or in the first message, \`{"type":"token","token":"…"}\`, within 10 seconds. The URL never carries a token.`,
    'The service first sends `{"type":"ready","sequence":41,"lastSequence":42,"oldestSequence":1,"expires":"…"}`, in a sandbox with `"sandbox":true`, and then `{"type":"events","ack":"…","events":[…]}`: events in sequence, up to 100 in a message, in the same form as in the log. If `oldestSequence` is greater than `sequence` + 1, the events between them are no longer stored.',
    `Acknowledge each message by sending its \`ack\` back, \`{"type":"ack","ack":"…"}\`; an ack also speaks for all messages before its own. Treat it as opaque: any other ack closes the stream. The service sends at most ${MAX_UNACKED_EVENTS} events, or about ${MAX_UNACKED_BYTES / 1e6} MB, beyond the last that you acknowledged, and about ${MAX_TOTAL_UNACKED_BYTES / 1e6} MB on all streams of the account together. It closes the stream if no newer message is acknowledged within ${ACK_TIMEOUT_MS / 1000} seconds. After a disconnect open a new stream with \`after\`: no event is missed or repeated.`,
    `The stream ends when its token expires. Send a new token to continue, \`{"type":"token","token":"…"}\`; the reply is \`{"type":"token","expires":"…"}\`. The stream also ends within 30 seconds after its key is deleted or expires. The reply to \`${PING}\` is \`${PONG}\`.`,
    `Close codes:\n${CODES.join('\n')}`,
  ].join('\n\n'),
  scope: 'read',
  upgrade: 'read',
  query: z.strictObject({
    after: after.optional().meta({
      description:
        'Start after the event with this `sequence`. Without it the stream starts with the next event.',
      example: 41,
    }),
    ...filterQuery,
  }),
  reply: z.never(),
})
