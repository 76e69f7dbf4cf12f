/* The texts of the OpenAPI document that belong to no single operation. */

export const TITLE = 'Perigee API'
export const SUMMARY =
  'Satellite tracking as an API: devices and their licenses, locations, zones, rules and alerts.'

/** Relative to the document: the service has an address of its own wherever it is deployed. */
export const CONTACT = { name: 'The operator of this service', url: '/docs' }

export const DESCRIPTION = `
Perigee tracks satellite devices. It takes their locations and alerts by this API or by the pushes of their own networks (sources), watches zones and rules, notifies the users of the account, and manages the licenses that keep devices active.

## Authentication

Almost every call needs a bearer token. Exchange an API key for one; a token is valid for an hour:

\`\`\`sh
curl https://your-host/api/Auth/Token \\
  -H 'Content-Type: application/json' \\
  -d '{ "userName": "demo", "apiKey": "pgk_…" }'
\`\`\`

Send the token as \`Authorization: Bearer <token>\`. A key has scopes, and each operation names the scope that it needs:

- \`ingest\`: report locations and alerts, nothing else
- \`read\`: read
- \`write\`: read, report and change
- \`execute\`: send commands to devices
- \`admin\`: everything

## Replies and errors

Replies are JSON objects with the member \`success\`. Times are ISO 8601 in UTC with milliseconds; requests may use any offset. New members may be added to replies: ignore those that you do not know.

Every error reply has one shape, \`application/problem+json\` (RFC 9457). Use \`code\` in programs and show \`detail\` to people; \`errors\` lists the values that are not valid, and \`type\` links to a page that
says what to do. A method that a path does not support gets a 405 with \`Allow\`. \`HEAD\` works wherever \`GET\` does. Resources of other accounts get a 404.

Unknown members of a request body are refused. Members that the server writes are accepted by \`POST\` and \`PUT\` and ignored, so that you can edit the reply of a \`GET\` and send it back; so are \`success\`, \`error\`, \`apiUsage\` and \`apiDailyUsage\`. There, null for an optional member means the same as leaving it out. In a merge patch null sets a member back to its default.

## Versions

Versions of the API are dates. New members, operations and values are added at any time; whatever would break a client that ignores what it does not know gets a new version. An API key pins the version that was the newest when it was made, and \`Perigee-Version\` in a request chooses another. Every reply names its version. What is deprecated has \`Deprecation\` and, once its end is known, \`Sunset\` in its replies, at least a year before.

## Paging

Lists take \`limit\` (1 to 1000) and return \`nextCursor\`, which is null on the last page. Send it as \`cursor\` with the same filters, or follow \`Link\`. A row that exists during the whole listing is returned exactly once. Only a query of locations or alerts by \`POST\` without \`limit\` and \`cursor\` has the whole span in one reply.

## Concurrent edits

A single resource has an \`ETag\`. Send it as \`If-None-Match\` to get a 304 if nothing has changed, and as \`If-Match\` to edit only the version that you have read; otherwise you get a 412.
\`PUT\` replaces the resource. \`PATCH\` takes a JSON Merge Patch or a JSON Patch, which is applied completely or not at all.

## Safe retries

Send an \`Idempotency-Key\` of your choice with a \`POST\`. For 24 hours a request with the same key gets the first reply again, with \`Idempotent-Replayed: true\`, and nothing is done twice. A secret that is shown once is null in the replay.

## Events

What happens to devices, alerts, messages, licenses and API keys is an event, and events are numbered without gaps. There are three ways to get them: \`GET /api/events\` lists the log of the last 30 days from any number on,
a webhook is called with new events, and \`GET /api/stream\` sends them over a WebSocket as they happen. All three use the same format, and each can be limited to types, devices and groups.

A webhook is called with \`{ "events": [ … ] }\` and signed by the [Standard Webhooks](https://www.standardwebhooks.com) scheme, which has libraries to verify it:

\`\`\`js
import { Webhook } from 'standardwebhooks'

const { events } = new Webhook('whsec_…').verify(body, headers)
\`\`\`

Each event is delivered at least once and in sequence. Store the highest \`sequence\` that you have processed, and ignore events up to it. Reply with a 2xx within 15 seconds; do slow work afterwards.

## Rate limits

Each account has a number of requests per minute. A request counts as one more for each further 100 locations that it reports, and for each 64 KiB of its body. \`RateLimit-Policy\` shows the limits and \`RateLimit\` what is left. Beyond the limit the reply is 429 with \`Retry-After\`.
`.trim()

/** In the order of the reference page. A test fails for a tag that is missing here. */
export const TAGS: Readonly<Record<string, string>> = {
  Tokens: 'Exchange an API key for a bearer token.',
  Sessions:
    'People who sign in with a password, the links with which they set one, and the browsers in which they get notifications.',
  Devices: 'Trackers, and the licenses that keep them active.',
  Locations: 'Where devices are and have been.',
  Sources: 'Trackers that report by their own networks.',
  Commands: 'Commands to devices, and messages written on them.',
  Trips: 'Trips, stops and days, computed from the locations.',
  Zones: 'Areas that rules refer to.',
  Rules: 'What the service watches for, and the alert that it raises then.',
  Watches: 'Promises to report: who has to check in by when, and the alert if nobody does.',
  Shares: 'Addresses by which people without an account see where some devices are.',
  Alerts: 'Alerts that devices and rules raise, and the messages that they cause.',
  Messages: 'E-mails, SMS, notifications and calls of alerts, and their delivery status.',
  Groups: 'Sets of devices.',
  Users:
    'People of the account: their privileges, the devices that they see, and their notifications.',
  Account: 'The account: its name, time zone and licenses.',
  Keys: 'API keys and their scopes.',
  Events: 'What has happened to devices, alerts, messages, licenses and API keys, in order.',
  Webhooks: 'Events delivered to your own server.',
  Operator:
    'For the operators of the service, with the token `ADMIN_TOKEN`, a key, or Cloudflare Access.',
  Service: 'The service itself. No token is needed.',
}
