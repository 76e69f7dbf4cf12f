import type { Place } from '../domain/message/alert.ts'
import { type LandRing, landRings, type Point } from './land.ts'

/* A picture of the part of the world around an alert, as SVG: it needs no script and no other request. */

const WIDTH = 640
const HEIGHT = 400
/** How many degrees of latitude it shows at least: the outline of the land is not fine enough for less. */
const MIN_SPAN = 10
const MAX_SPAN = 80
/** The part of the picture that two places far apart take. */
const FILLED = 0.7
const KM_PER_DEGREE = 111.2
const RADIANS = Math.PI / 180

interface View {
  latitude: number
  longitude: number
  /** Pixels per degree. */
  x: number
  y: number
}

/** The longitude as near to another as it can be: the two may be on both sides of the antimeridian. */
const near = (longitude: number, other: number): number =>
  longitude - 360 * Math.round((longitude - other) / 360)

const viewOf = (places: readonly Place[], span: number): View => {
  const base = places[0]?.longitude ?? 0
  const xs = places.map(({ longitude }) => near(longitude, base))
  const ys = places.map(({ latitude }) => latitude)
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2
  const extent = (values: number[]) => Math.max(...values) - Math.min(...values)
  const latitude = middle(ys)
  // Near a pole the picture would otherwise be a line.
  const stretch = Math.max(0.1, Math.cos(latitude * RADIANS))
  const needed = Math.max(extent(ys), (extent(xs) * stretch * HEIGHT) / WIDTH) / FILLED
  const y = HEIGHT / Math.max(span, needed)
  return { latitude, longitude: middle(xs), x: y * stretch, y }
}

const project = (view: View, [longitude, latitude]: Point): Point => [
  WIDTH / 2 + (longitude - view.longitude) * view.x,
  HEIGHT / 2 - (latitude - view.latitude) * view.y,
]

const MARGIN = 4

/** The part of a ring on one side of a line: `depth` says how far inside a point is. */
const cut = (ring: Point[], depth: (point: Point) => number): Point[] =>
  ring.flatMap((point, at) => {
    const before = ring.at(at - 1) ?? point
    const [now, then] = [depth(point), depth(before)]
    const share = then / (then - now)
    const crossing: Point = [
      before[0] + (point[0] - before[0]) * share,
      before[1] + (point[1] - before[1]) * share,
    ]
    return [...(now < 0 !== then < 0 ? [crossing] : []), ...(now < 0 ? [] : [point])]
  })

const SIDES: ((point: Point) => number)[] = [
  ([x]) => x + MARGIN,
  ([x]) => WIDTH + MARGIN - x,
  ([, y]) => y + MARGIN,
  ([, y]) => HEIGHT + MARGIN - y,
]

const round = (value: number): string => String(Math.round(value * 10) / 10)
const toPath = (ring: Point[]): string =>
  `M${ring.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}Z`

/** Whether a part of the ring may be in the picture, when it is moved east by so many degrees. */
const isVisible = (view: View, { west, east, south, north }: LandRing, shift: number): boolean => {
  const halfWidth = WIDTH / 2 / view.x
  const halfHeight = HEIGHT / 2 / view.y
  return (
    west + shift <= view.longitude + halfWidth &&
    east + shift >= view.longitude - halfWidth &&
    south <= view.latitude + halfHeight &&
    north >= view.latitude - halfHeight
  )
}

/** The world repeats itself every 360 degrees. */
const landPath = (view: View): string =>
  [-360, 0, 360]
    .flatMap((shift) =>
      landRings()
        .filter((ring) => isVisible(view, ring, shift))
        .map(({ points }) => points.map(([x, y]) => project(view, [x + shift, y]))),
    )
    .map((ring) => SIDES.reduce(cut, ring))
    .filter((ring) => ring.length > 2)
    .map(toPath)
    .join('')

/** Shows more of the world while there is no land to see. */
const findView = (places: readonly Place[]): { view: View; land: string } => {
  for (let span = MIN_SPAN; ; span *= 2) {
    const view = viewOf(places, span)
    const land = landPath(view)
    if (land !== '' || span >= MAX_SPAN) return { view, land }
  }
}

const STEPS = [1, 2, 5, 10, 20, 30, 45, 90]

/** The multiples of a step that are in the picture, at most six. */
const gridOf = (middle: number, span: number): number[] => {
  const step = STEPS.find((one) => span / one <= 5) ?? 90
  const first = Math.ceil((middle - span / 2) / step)
  const last = Math.floor((middle + span / 2) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step)
}

const label = (degrees: number, [positive, negative]: readonly [string, string]): string =>
  `${Math.abs(degrees)}°${degrees === 0 || Math.abs(degrees) === 180 ? '' : degrees > 0 ? ` ${positive}` : ` ${negative}`}`

const gridLines = (view: View): string =>
  [
    ...gridOf(view.longitude, WIDTH / view.x).map((longitude) => {
      const x = round(project(view, [longitude, 0])[0])
      const text = label(near(longitude, 0), ['E', 'W'])
      return `<path class="grid" d="M${x} 0V${HEIGHT}"/><text x="${x}" y="14" dx="4">${text}</text>`
    }),
    ...gridOf(view.latitude, HEIGHT / view.y)
      .filter((latitude) => Math.abs(latitude) <= 90)
      .map((latitude) => {
        const y = round(project(view, [0, latitude])[1])
        const text = label(latitude, ['N', 'S'])
        return `<path class="grid" d="M0 ${y}H${WIDTH}"/><text x="4" y="${y}" dy="-4">${text}</text>`
      }),
  ].join('')

const MAX_SCALE_WIDTH = 160

/** A bar of 1, 2 or 5 times a power of ten kilometres. */
const scaleBar = ({ y }: View): string => {
  const pixelsPerKm = y / KM_PER_DEGREE
  const max = MAX_SCALE_WIDTH / pixelsPerKm
  const power = 10 ** Math.floor(Math.log10(max))
  const km = (max >= 5 * power ? 5 : max >= 2 * power ? 2 : 1) * power
  const [right, bottom] = [WIDTH - 12, HEIGHT - 12]
  return `<path class="scale" d="M${round(right - km * pixelsPerKm)} ${bottom - 6}v6H${right}v-6"/>
<text x="${right}" y="${bottom - 10}" text-anchor="end">${km.toLocaleString('en')} km</text>`
}

const marker = (kind: 'first' | 'newest', [x, y]: Point, radius: number): string =>
  `<circle class="${kind}" cx="${round(x)}" cy="${round(y)}" r="${radius}"/>`

/** The newest place, and the first one where it is another. */
export const drawMap = (newest: Place, first: Place | null): string => {
  const places = first ? [newest, first] : [newest]
  const { view, land } = findView(places)
  const [to, from] = places.map(({ latitude, longitude }) =>
    project(view, [near(longitude, view.longitude), latitude]),
  )
  return `<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Map of the area">
<path class="land" d="${land}"/>
${gridLines(view)}
${scaleBar(view)}
${from && to ? `<path class="way" d="M${from.map(round).join(' ')}L${to.map(round).join(' ')}"/>` : ''}
${from ? marker('first', from, 7) : ''}${to ? marker('newest', to, 9) : ''}
</svg>`
}
