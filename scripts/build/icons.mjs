// Draws the icons of the installed console, public/icons/*.png, like public/favicon.svg. Run it after
// a change of the mark, and commit what it writes: node scripts/build/icons.mjs
import { writeFileSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'

/** Samples of each pixel, in each direction. */
const SAMPLES = 4
const GRID = 32
const [NIGHT, ORBIT, WHITE, SATELLITE] = ['17235a', '7f95ff', 'ffffff', 'ffa640'].map((hex) => [
  ...Buffer.from(hex, 'hex'),
  255,
])
const CLEAR = [0, 0, 0, 0]

const ANGLE = (-32 * Math.PI) / 180
/** The mark: its colour at a point of the grid, or null beside it. */
const colourOfMark = (x, y) => {
  const [dx, dy] = [x - 16, y - 16]
  // Turned back, so that the axes of the orbit are those of the grid.
  const u = dx * Math.cos(ANGLE) + dy * Math.sin(ANGLE)
  const v = dy * Math.cos(ANGLE) - dx * Math.sin(ANGLE)
  if (Math.hypot(u - 12, v) <= 2.5) return SATELLITE
  if (Math.hypot(u - 4.6, v) <= 3.9) return WHITE
  const isWithin = (rx, ry) => (u / rx) ** 2 + (v / ry) ** 2 <= 1
  return isWithin(12.9, 8.5) && !isWithin(11.1, 6.7) ? ORBIT : null
}

const isInRoundedSquare = (x, y) => {
  const beyond = (at) => Math.max(Math.abs(at - 16) - 8, 0)
  return Math.hypot(beyond(x), beyond(y)) <= 8
}

const rounded = (x, y) => colourOfMark(x, y) ?? (isInRoundedSquare(x, y) ? NIGHT : CLEAR)
/** Systems cut it to their own shape: the mark keeps to the middle. */
const full = (scale) => (x, y) =>
  colourOfMark((x - 16) / scale + 16, (y - 16) / scale + 16) ?? NIGHT
/** Systems use only its opacity. */
const silhouette = (x, y) => (colourOfMark(x, y) ? WHITE : CLEAR)

const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

const averageOf = (colours) => {
  const alpha = colours.reduce((sum, [, , , a]) => sum + a, 0)
  const channel = (at) => colours.reduce((sum, one) => sum + one[at] * one[3], 0) / (alpha || 1)
  return [channel(0), channel(1), channel(2), alpha / colours.length].map(Math.round)
}

const drawPng = (size, colourAt) => {
  const rows = Array.from({ length: size }, (_, row) => {
    const pixels = Array.from({ length: size }, (_, column) =>
      averageOf(
        Array.from({ length: SAMPLES ** 2 }, (_, sample) => {
          const at = (pixel, part) => ((pixel + (part + 0.5) / SAMPLES) * GRID) / size
          return colourAt(at(column, sample % SAMPLES), at(row, Math.floor(sample / SAMPLES)))
        }),
      ),
    )
    return Buffer.from([0, ...pixels.flat()])
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // 8 bits for each of red, green, blue and opacity.
  header.set([8, 6], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const ICONS = [
  ['192', 192, rounded],
  ['512', 512, rounded],
  ['maskable', 512, full(0.85)],
  ['apple-touch', 180, full(0.9)],
  ['badge', 96, silhouette],
]
for (const [name, size, colourAt] of ICONS)
  writeFileSync(new URL(`../../public/icons/${name}.png`, import.meta.url), drawPng(size, colourAt))
