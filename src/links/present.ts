import { distanceMetres } from '../domain/geo/geodesy.ts'
import { formatCoordinates, geoLink, mapLink } from '../domain/geo/place.ts'
import {
  alertLabel,
  describeAge,
  describeAgo,
  formatLongTime,
} from '../domain/message/alertText.ts'
import { escapeHtml } from '../domain/text/html.ts'
import { drawMap } from './map.ts'
import type { LinkedAlert, TimedPlace } from './store.ts'

/* The page of a link. It needs no script, and all that it shows comes from this service. */

/** A link is a secret: it must not be sent to the map, stored or indexed. */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

export const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/alert.css">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`

/** The same for every link that cannot be used: nobody learns why. */
export const presentNoAlert = (): string =>
  page(
    'Link not valid',
    `<h1>This link is not valid</h1>
<p>It may have expired, or it was not copied completely. Links in messages are valid for 7 days.</p>
<p>If this is about an emergency, contact the people responsible by other means.</p>`,
  )

export const row = (term: string, description: string): string =>
  `<dt>${term}</dt><dd>${description}</dd>`

const position = (place: TimedPlace, remark: string | null, alert: LinkedAlert): string => {
  const { time } = place
  const taken =
    time === null
      ? null
      : `${describeAgo(time, alert.now)}, ${formatLongTime(time, alert.timeZone)}`
  return [
    `<strong class="place">${formatCoordinates(place)}</strong>`,
    ...(place.words ? [escapeHtml(place.words)] : []),
    ...(taken ? [taken] : []),
    ...(remark ? [`<em>${remark}</em>`] : []),
    `<a href="${geoLink(place)}">Map app</a> <a href="${escapeHtml(mapLink(place))}" \
rel="noreferrer">OpenStreetMap</a>`,
  ].join('<br>\n')
}

const distance = (from: TimedPlace, to: TimedPlace): string => {
  const metres = distanceMetres(from.latitude, from.longitude, to.latitude, to.longitude)
  return metres < 1000 ? `${Math.round(metres)} m` : `${(metres / 1000).toFixed(1)} km`
}

const isSamePlace = (a: TimedPlace, b: TimedPlace): boolean =>
  a.latitude === b.latitude && a.longitude === b.longitude

const map = (newest: TimedPlace, first: TimedPlace | null): string =>
  `<dd class="picture"><figure>${drawMap(newest, first)}<figcaption><span class="newest"></span> ${
    first ? 'Newest position <span class="first"></span> First position' : 'Position'
  }. The coast is a coarse outline.</figcaption></figure></dd>`

/** The newest position, the first one if it is another, and both on a map. */
const positions = (alert: LinkedAlert): string => {
  const { first, newest } = alert
  if (!newest) return row('Position', 'No position known')
  const remark = describeAge(alert)
  if (!first || (isSamePlace(first, newest) && first.time === newest.time))
    return row('Position', position(newest, first ? remark : null, alert)) + map(newest, null)
  const moved = isSamePlace(first, newest)
    ? 'The same as the first'
    : `${distance(first, newest)} from the first`
  return (
    row('Newest position', position(newest, moved, alert)) +
    row('First position', position(first, remark, alert)) +
    map(newest, isSamePlace(first, newest) ? null : first)
  )
}

/** What became of the alert. */
const state = (alert: LinkedAlert): string => {
  const { acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy, cancelledAt, timeZone } = alert
  if (acknowledgedAt === null)
    return '<p class="state open"><strong>Open.</strong> Nobody has acknowledged it yet.</p>'
  const step = (by: string | null, at: number) =>
    `by ${escapeHtml(by ?? '')}, ${formatLongTime(at, timeZone)}`
  const lines = [
    ...(resolvedAt === null ? [] : [`<strong>Resolved</strong> ${step(resolvedBy, resolvedAt)}`]),
    ...(cancelledAt === null
      ? []
      : [`<strong>Cancelled, false alarm</strong>, ${formatLongTime(cancelledAt, timeZone)}`]),
    `<strong>Acknowledged</strong> ${step(acknowledgedBy, acknowledgedAt)}`,
  ]
  return `<p class="state">${lines.join('<br>\n')}</p>`
}

const acknowledgeForm = ({ acknowledgedAt, recipientName }: LinkedAlert): string =>
  acknowledgedAt === null
    ? `<form method="post"><button>Acknowledge</button></form>
<p><small>Notifies everyone that ${escapeHtml(recipientName)} has seen this alert.</small></p>`
    : ''

export const presentLinkedAlert = (alert: LinkedAlert): string => {
  const { name, deviceName, text, dateTime, emergency, timeZone, now } = alert
  const title = `${alert.test ? 'TEST: ' : ''}${alertLabel(name)}: ${deviceName}`
  return page(
    title,
    `<h1${emergency ? ' class="emergency"' : ''}>${escapeHtml(title)}</h1>
${alert.test ? '<p class="test">TEST. This is a test of the emergency chain. There is no emergency.</p>' : ''}
${state(alert)}
${text.trim() ? `<p>${escapeHtml(text)}</p>` : ''}
${acknowledgeForm(alert)}
<dl>
${row('Device', escapeHtml(deviceName))}
${row('Time', `${formatLongTime(dateTime, timeZone)}, ${describeAgo(dateTime, now)}`)}
${positions(alert)}
</dl>`,
  )
}
