/* The words of the document that belong to no single operation. */

export const TITLE = 'Perigee API'
export const SUMMARY =
  'Satellite tracking as an API: devices and their licenses, locations, alerts, and who hears of them.'

export const DESCRIPTION = `
Perigee keeps track of satellite devices: it takes their locations and alerts, tells the people who asked to be told, and counts who holds a license.

## Getting a token

Every call but a few carries a bearer token. An API key buys one, good for an hour:

\`\`\`sh
curl https://your-host/api/Auth/Token \\
  -H 'Content-Type: application/json' \\
  -d '{ "userName": "demo", "apiKey": "pgk_…" }'
\`\`\`

Send it as \`Authorization: Bearer <token>\`. A key has scopes, and each operation names the one it wants: \`ingest\` reports locations and alerts and nothing else,
\`read\` reads, \`write\` does both and changes things, \`admin\` does everything.

## Replies and failures

Replies are JSON objects with \`success\`. Times are ISO 8601 in UTC with milliseconds; requests may use any offset. Members may be added to replies: pass over those you do not know.

Every failure is one shape, \`application/problem+json\` (RFC 9457): branch on \`code\`, show \`detail\`, and look in \`errors\` for the values at fault. \`type\` leads to a page that
says what to do. A method that a path does not take is 405 with \`Allow\`; \`HEAD\` works wherever \`GET\` does. Unknown members of a body are refused; members that the server writes
are accepted by \`POST\` and \`PUT\` and ignored, so that what \`GET\` gave can be edited and sent back. Whatever belongs to another account is 404.

## Paging

Lists take \`limit\` (1 to 1000) and answer with \`nextCursor\`, null on the last page; pass it on as \`cursor\` with the same filters, or follow \`Link\`. Rows that stand throughout a walk are seen exactly once.

## Editing without surprises

A single resource carries an \`ETag\`. Send it back as \`If-None-Match\` to read only what changed (304), and as \`If-Match\` to edit only what you have seen (412 otherwise).
\`PUT\` replaces; \`PATCH\` takes a JSON Merge Patch or a JSON Patch, whole or not at all.

## Repeating safely

Send an \`Idempotency-Key\` of your own with a \`POST\`. For 24 hours a repeat gets the first answer again, with \`Idempotent-Replayed: true\`, and nothing is done twice; a secret shown once is not shown again.

## Being told

Everything that happens in an account is an event, numbered without gaps. There are three ways to hear of it: \`GET /api/events\` lists the log of 30 days from any number on,
a webhook is called with it, and \`GET /api/stream\` sends it over a WebSocket as it happens. All three show the same envelope; each can be narrowed to some types, devices and groups.

A webhook is called with \`{ "events": [ … ] }\`, signed by the [Standard Webhooks](https://www.standardwebhooks.com) scheme, whose libraries verify it:

\`\`\`js
import { Webhook } from 'standardwebhooks'

const { events } = new Webhook('whsec_…').verify(body, headers)
\`\`\`

Each event comes at least once and in sequence: remember the highest \`sequence\` that you have acted on, and pass over the rest. Answer with 2xx within 15 seconds; do slow work afterwards.

## Rate limits

Each account has its number of requests a minute. \`RateLimit-Policy\` tells the limits and \`RateLimit\` what is left; beyond them the answer is 429 with \`Retry-After\`.
`.trim()

/** In the order in which the reference page shows them. A tag that is not here fails a test. */
export const TAGS: Readonly<Record<string, string>> = {
  Tokens: 'An API key for a bearer token.',
  Devices: 'Trackers, and the licenses that keep them active.',
  Locations: 'Where devices are and have been.',
  Alerts: 'What devices raise, and the messages that it sends.',
  Messages: 'The e-mails and SMS that alerts have sent, and what became of them.',
  Groups: 'Devices that belong together.',
  Users: 'People of the account: what they may do, what they see, and how they are told.',
  Account: 'The account itself: its name, time zone and licenses.',
  Keys: 'API keys and their scopes.',
  Events: 'What has happened in the account, in order.',
  Webhooks: 'Events brought to your own server.',
  Operator: 'For whoever runs the service, with the token of `ADMIN_TOKEN`.',
  Service: 'The service itself; no token wanted.',
}
