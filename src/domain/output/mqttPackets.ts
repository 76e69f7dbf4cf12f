/* The packets of MQTT 3.1.1 that a client needs to publish with QoS 1. */

export const CONNACK = 2
export const PUBACK = 4
export const DISCONNECT = new Uint8Array([0xe0, 0])

const MAX_LENGTH_BYTES = 4
const KEEP_ALIVE_SECONDS = 60
const encoder = new TextEncoder()

const concatenate = (parts: Uint8Array[]): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

const twoBytes = (value: number): Uint8Array => new Uint8Array([value >> 8, value & 0xff])

/** Text with its length before it. */
const field = (text: string): Uint8Array => {
  const bytes = encoder.encode(text)
  if (bytes.length > 0xffff) throw new RangeError('text is too long for MQTT')
  return concatenate([twoBytes(bytes.length), bytes])
}

/** Seven bits in a byte; the eighth says that another follows. */
const lengthOf = (value: number): Uint8Array => {
  const bytes: number[] = []
  let rest = value
  do {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    bytes.push(rest > 0 ? low + 128 : low)
  } while (rest > 0)
  return new Uint8Array(bytes)
}

const packet = (first: number, parts: Uint8Array[]): Uint8Array => {
  const body = concatenate(parts)
  return concatenate([new Uint8Array([first]), lengthOf(body.length), body])
}

export interface Login {
  clientId: string
  userName: string | null
  password: string | null
}

/** Begins a clean session. A password needs a user name, if only an empty one. */
export const connectPacket = ({ clientId, userName, password }: Login): Uint8Array => {
  const hasName = userName !== null || password !== null
  const flags = 0x02 + (hasName ? 0x80 : 0) + (password === null ? 0 : 0x40)
  return packet(0x10, [
    field('MQTT'),
    new Uint8Array([4, flags]),
    twoBytes(KEEP_ALIVE_SECONDS),
    field(clientId),
    ...(hasName ? [field(userName ?? '')] : []),
    ...(password === null ? [] : [field(password)]),
  ])
}

/** With QoS 1: the broker confirms the packet by its id, 1 to 65535. */
export const publishPacket = (packetId: number, topic: string, payload: string): Uint8Array =>
  packet(0x32, [field(topic), twoBytes(packetId), encoder.encode(payload)])

export interface Packet {
  type: number
  body: Uint8Array
}

/** The first packet of the bytes and what follows it; null while bytes of it are missing. */
export const readPacket = (bytes: Uint8Array): { packet: Packet; rest: Uint8Array } | null => {
  let length = 0
  for (let index = 0; index < MAX_LENGTH_BYTES; index += 1) {
    const byte = bytes[1 + index]
    if (byte === undefined) return null
    length += (byte % 128) * 128 ** index
    if (byte >= 128) continue
    const start = 2 + index
    if (bytes.length < start + length) return null
    const body = bytes.subarray(start, start + length)
    return { packet: { type: (bytes[0] ?? 0) >> 4, body }, rest: bytes.subarray(start + length) }
  }
  throw new RangeError('the length of a packet has more than four bytes')
}

export const appendBytes = (before: Uint8Array, more: Uint8Array): Uint8Array =>
  concatenate([before, more])
