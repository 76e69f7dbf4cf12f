import { formatCoordinates, geoLink, mapLink } from '../domain/geo/place.ts'
import { describeAgo, formatLongTime } from '../domain/message/alertText.ts'
import { markName } from '../domain/sandbox/sandbox.ts'
import type { ShareRecord } from '../domain/share/share.ts'
import { escapeHtml } from '../domain/text/html.ts'
import { decimal, xmlText } from '../domain/text/xml.ts'
import { iso } from '../domain/time/iso.ts'
import { page, row } from '../links/present.ts'
import type { OpenedShare, SharedDevice, SharedPoint, SharedView } from './viewStore.ts'

/* The page of a share and its data in other formats. */

/** The same for every address that cannot be used: nobody learns why. */
export const presentNoShare = (): string =>
  page(
    'Address not valid',
    `<h1>This address is not valid</h1>
<p>The share may have ended, or the address was not copied completely.</p>`,
  )

export const presentLocked = (remark: string): string =>
  page('Password needed', `<h1>Password needed</h1>\n<p>${escapeHtml(remark)}</p>`)

const position = (point: SharedPoint | null, timeZone: string, now: number): string =>
  point === null
    ? 'No position known'
    : `<strong class="place">${formatCoordinates(point)}</strong><br>
${describeAgo(point.time, now)}, ${formatLongTime(point.time, timeZone)}<br>
<a href="${geoLink(point)}">Map app</a> <a href="${escapeHtml(mapLink(point))}" rel="noreferrer">OpenStreetMap</a>`

/** What a share is called. That of a sandbox says so. */
const titleOf = ({ record, isSandbox }: OpenedShare): string => markName(isSandbox, record.name)

const remarksOf = ({ precision, delayMinutes, until }: ShareRecord, timeZone: string): string[] => [
  ...(precision === 'exact'
    ? []
    : [`Positions are rounded to about ${precision.slice(0, -2)} km.`]),
  ...(delayMinutes === 0 ? [] : [`Positions are shown ${delayMinutes} minutes late.`]),
  ...(until === null ? [] : [`Shared until ${formatLongTime(until, timeZone)}.`]),
]

/** `address`: the address of the share. */
export const presentShared = (
  share: OpenedShare,
  { devices, isCut }: SharedView,
  { address, now }: { address: string; now: number },
): string => {
  const { record, timeZone, isSandbox } = share
  const title = titleOf(share)
  const remarks = [
    ...(isSandbox ? ['This is a sandbox: its devices may be simulated.'] : []),
    ...remarksOf(record, timeZone),
    ...(isCut ? [`Only ${devices.length} devices are shown.`] : []),
  ]
  const rows = devices.map(({ name, newest }) =>
    row(escapeHtml(name), position(newest, timeZone, now)),
  )
  return page(
    title,
    `<h1>${escapeHtml(title)}</h1>
${remarks.map((remark) => `<p>${escapeHtml(remark)}</p>`).join('\n')}
<dl>
${rows.join('\n')}
</dl>
<p><a href="${escapeHtml(address)}/link.kml">Google Earth</a>
<a href="${escapeHtml(address)}/locations.geojson">GeoJSON</a></p>`,
  )
}

const coordinatesOf = ({ longitude, latitude }: SharedPoint): [number, number] => [
  longitude,
  latitude,
]

/** Where the way between two points is shorter across the 180th meridian, a line ends there. */
const splitLine = (track: SharedPoint[]): SharedPoint[][] => {
  const lines: SharedPoint[][] = []
  for (const point of track) {
    const line = lines.at(-1)
    const last = line?.at(-1)
    if (line && last && Math.abs(last.longitude - point.longitude) <= 180) line.push(point)
    else lines.push([point])
  }
  return lines.filter((line) => line.length > 1)
}

function* featuresOf({ name, newest, track }: SharedDevice) {
  if (newest)
    yield {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: coordinatesOf(newest) },
      properties: { name, time: iso(newest.time) },
    }
  for (const line of splitLine(track))
    yield {
      type: 'Feature',
      geometry: { type: 'LineString', coordinates: line.map(coordinatesOf) },
      properties: { name, times: line.map(({ time }) => iso(time)) },
    }
}

export const toGeoJson = (share: OpenedShare, { devices }: SharedView): string =>
  JSON.stringify({
    type: 'FeatureCollection',
    name: titleOf(share),
    ...(share.isSandbox && { sandbox: true }),
    features: devices.flatMap((device) => [...featuresOf(device)]),
  })

const KML = `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
`

const coordinateText = (point: SharedPoint, separator: string): string =>
  coordinatesOf(point).map(decimal).join(separator)

/** One location is no track: readers would show it as a second place. */
const kmlTrack = (track: SharedPoint[]): string =>
  track.length < 2
    ? ''
    : `<gx:Track><altitudeMode>clampToGround</altitudeMode>
${track.map(({ time }) => `<when>${iso(time)}</when>`).join('\n')}
${track.map((point) => `<gx:coord>${coordinateText(point, ' ')} 0</gx:coord>`).join('\n')}
</gx:Track>\n`

const placemark = ({ name, newest, track }: SharedDevice): string => {
  if (!newest) return ''
  const title = `<name>${xmlText(name)}</name>`
  const at = iso(newest.time)
  const line = kmlTrack(track)
  return `<Placemark>${title}<description>${at}</description><TimeStamp><when>${at}</when></TimeStamp>
<Point><coordinates>${coordinateText(newest, ',')}</coordinates></Point></Placemark>
${line && `<Placemark>${title}\n${line}</Placemark>\n`}`
}

export const toKml = (share: OpenedShare, { devices }: SharedView): string =>
  `${KML}<Document><name>${xmlText(titleOf(share))}</name>
${devices.map(placemark).join('')}</Document>
</kml>
`

const REFRESH_SECONDS = 30

/** What Google Earth opens: it reads the locations again and again. */
export const toNetworkLink = (share: OpenedShare, address: string): string =>
  `${KML}<NetworkLink><name>${xmlText(titleOf(share))}</name>
<Link><href>${xmlText(`${address}/locations.kml`)}</href>
<refreshMode>onInterval</refreshMode><refreshInterval>${REFRESH_SECONDS}</refreshInterval></Link>
</NetworkLink>
</kml>
`
