import { Response, WebSocketPair } from 'miniflare'
import { appendBytes, CONNACK, PUBACK, readPacket } from '../../../src/domain/output/mqttPackets.ts'
import type { ReceivedCall } from './receivers.ts'

/* A broker of MQTT by WebSocket, which confirms what it publishes. */

const CONNECT = 1
const PUBLISH = 3

/**
 * `broker` takes everything. `broker-x` closes the connection on a record that contains x, and
 * `broker-first-2` on the first two records. `broker-silent` does not answer a record that contains
 * `silent`. `broker-unavailable` accepts no connection.
 */
export const openBroker = (behaviour: string, calls: ReceivedCall[]): Response => {
  const [, count, part] = /^broker(?:-first-(\d+)|-(.+))?$/.exec(behaviour) ?? []
  const accepts = part !== 'unavailable'
  const { 0: client, 1: server } = new WebSocketPair()
  let received: Uint8Array = new Uint8Array()
  server.accept()
  const answer = ({ type, body }: { type: number; body: Uint8Array }) => {
    if (type === CONNECT) server.send(new Uint8Array([CONNACK << 4, 2, 0, accepts ? 0 : 3]))
    if (type !== PUBLISH) return
    const topicEnd = 2 + ((body[0] ?? 0) << 8) + (body[1] ?? 0)
    const text = (from: number, to?: number) => new TextDecoder().decode(body.subarray(from, to))
    const record = text(topicEnd + 2)
    const at = Date.now()
    calls.push({ at, behaviour, headers: { topic: text(2, topicEnd) }, body: record })
    const isRefused = part ? record.includes(part) : calls.length <= Number(count ?? 0)
    if (isRefused && part === 'silent') return
    if (isRefused) server.close(1000)
    else server.send(new Uint8Array([PUBACK << 4, 2, ...body.subarray(topicEnd, topicEnd + 2)]))
  }
  server.addEventListener('message', ({ data }) => {
    received = appendBytes(received, new Uint8Array(data as ArrayBuffer))
    for (let found = readPacket(received); found; found = readPacket(received)) {
      received = found.rest
      answer(found.packet)
    }
  })
  return new Response(null, { status: 101, webSocket: client })
}
