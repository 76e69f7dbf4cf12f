import { formatCoordinates, mapLink } from '../domain/geo/place.ts'
import { describeAge, formatLongTime, placeOf } from '../domain/message/alertText.ts'
import { escapeHtml } from '../domain/text/html.ts'
import type { LinkedAlert } from './store.ts'

/* The page of a link. It needs no script, and everything in it but the map comes from this service. */

/** A link is a secret: it must not be sent to the map, stored or indexed. */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

const page = (title: string, content: string): string => `<!doctype html>
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

const position = (alert: LinkedAlert): string => {
  const place = placeOf(alert)
  if (!place) return 'No position known'
  const age = describeAge(alert)
  return `${formatCoordinates(place)}${age ? `<br><strong>${age}</strong>` : ''}<br>
<a href="${escapeHtml(mapLink(place))}" rel="noreferrer">Show on a map</a>`
}

const state = (alert: LinkedAlert): string => {
  const { acknowledgedAt, acknowledgedBy, cancelledAt, timeZone } = alert
  if (acknowledgedAt === null) return 'Nobody yet'
  const cancelled =
    cancelledAt === null
      ? ''
      : `<br><strong>Cancelled, false alarm</strong>, ${formatLongTime(cancelledAt, timeZone)}`
  return `${escapeHtml(acknowledgedBy ?? '')}, ${formatLongTime(acknowledgedAt, timeZone)}${cancelled}`
}

const acknowledgeForm = ({ acknowledgedAt, recipientName }: LinkedAlert): string =>
  acknowledgedAt === null
    ? `<form method="post"><button>Acknowledge</button></form>
<p><small>Tells everyone that ${escapeHtml(recipientName)} has seen this alert.</small></p>`
    : ''

export const presentLinkedAlert = (alert: LinkedAlert): string => {
  const { name, deviceName, text, dateTime, emergency, timeZone } = alert
  const title = `${name}: ${deviceName}`
  return page(
    title,
    `<h1${emergency ? ' class="emergency"' : ''}>${escapeHtml(title)}</h1>
${text.trim() ? `<p>${escapeHtml(text)}</p>` : ''}
<dl>
<dt>Device</dt><dd>${escapeHtml(deviceName)}</dd>
<dt>Time</dt><dd>${formatLongTime(dateTime, timeZone)}</dd>
<dt>Place</dt><dd>${position(alert)}</dd>
<dt>Acknowledged by</dt><dd>${state(alert)}</dd>
</dl>
${acknowledgeForm(alert)}`,
  )
}
