/* Makes small PMTiles archives (version 3): one tile at zoom 0, of vectors or a picture. */
import { deflateSync } from 'node:zlib'

const HEADER_BYTES = 127
const NO_COMPRESSION = 1
export const TILE_TYPES = { mvt: 1, png: 2 }
const EXTENT = 4096

function varint(value) {
  const bytes = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  return Buffer.from([...bytes, rest])
}

/** One entry: tile 0, once, with its length, at the beginning. */
const directoryOf = (tile) =>
  Buffer.concat([varint(1), varint(0), varint(1), varint(tile.length), varint(1)])

export function makeArchive(tileType, tile, metadata) {
  const directory = directoryOf(tile)
  const json = Buffer.from(JSON.stringify(metadata))
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('PMTiles', 0)
  header[7] = 3
  const directoryAt = HEADER_BYTES
  const jsonAt = directoryAt + directory.length
  const leavesAt = jsonAt + json.length
  const places = [directoryAt, directory.length, jsonAt, json.length, leavesAt, 0, leavesAt]
  for (const [at, value] of [...places, tile.length, 1, 1, 1].entries())
    header.writeBigUInt64LE(BigInt(value), 8 + at * 8)
  header.set([1, NO_COMPRESSION, NO_COMPRESSION, tileType, 0, 0], 96)
  for (const [at, degrees] of [-180, -85, 180, 85].entries())
    header.writeInt32LE(degrees * 1e7, 102 + at * 4)
  return Buffer.concat([header, directory, json, tile])
}

const tagged = (number, type, content) => Buffer.concat([varint((number << 3) | type), content])
const number = (field, value) => tagged(field, 0, varint(value))
const bytes = (field, content) => tagged(field, 2, Buffer.concat([varint(content.length), content]))

const zigzag = (value) => (value << 1) ^ (value >> 31)
const MOVE = 1
const LINE = 2
const CLOSE = 7
const TYPES = { point: 1, line: 2, polygon: 3 }

/** The commands that draw through the points. */
function geometryOf(type, points) {
  let [lastX, lastY] = [0, 0]
  const step = ([x, y]) => {
    const moved = [zigzag(x - lastX), zigzag(y - lastY)]
    lastX = x
    lastY = y
    return moved
  }
  const [first, ...others] = points
  const commands = [MOVE | (1 << 3), ...step(first)]
  if (others.length > 0) commands.push(LINE | (others.length << 3), ...others.flatMap(step))
  if (type === 'polygon') commands.push(CLOSE | (1 << 3))
  return Buffer.concat(commands.map(varint))
}

/** Layers by their names: lists of `{ type, points, properties }`. */
export function makeVectorTile(layers) {
  return Buffer.concat(
    Object.entries(layers).map(([name, features]) => {
      const keys = []
      const values = []
      const content = features.map(({ type, points, properties = {} }) => {
        const tags = Object.entries(properties).flatMap(([key, value]) => {
          keys.push(key)
          values.push(value)
          return [keys.length - 1, values.length - 1]
        })
        return bytes(
          2,
          Buffer.concat([
            bytes(2, Buffer.concat(tags.map(varint))),
            number(3, TYPES[type]),
            bytes(4, geometryOf(type, points)),
          ]),
        )
      })
      return bytes(
        3,
        Buffer.concat([
          bytes(1, Buffer.from(name)),
          ...content,
          ...keys.map((key) => bytes(3, Buffer.from(key))),
          ...values.map((value) => bytes(4, bytes(1, Buffer.from(value)))),
          number(5, EXTENT),
          number(15, 2),
        ]),
      )
    }),
  )
}

function crc32(content) {
  let crc = ~0
  for (const byte of content) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function chunk(name, content) {
  const named = Buffer.concat([Buffer.from(name), content])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

/** A picture of one colour. */
export function makePng(size, [red, green, blue]) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const row = Buffer.from([0, ...Array(size).fill([red, green, blue]).flat()])
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(Array(size).fill(row)))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
