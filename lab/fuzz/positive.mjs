/*
 * A request that the document allows must not be refused as invalid, except by a rule that JSON
 * Schema cannot express.
 */

/** Problems that depend on what is stored, on the caller or on the clock. */
const STATE_CODES = new Set([
  'invalid-cursor',
  'invalid-link',
  'invalid-patch',
  'expiration-date-reached',
  'report-too-old',
  'span-too-large',
])

/** The rules that are in descriptions only, by the sentence with which the service refuses. */
const RULES = [
  /^must not be before the year 2000 or more than 10 minutes in the future$/,
  /^must be a date-time that exists$|^must be within the years 0000 to 9999/,
  /^must not be after to$|^must be later than `from`$|^must be in the future$/,
  /^must be (an IANA time zone|an ISO 3166-1 country code|an e-mail address|a date)/,
  /^must be (at most 8 KiB large|nested at most 8 levels deep)$|^must not be larger than 8 KiB$/,
  /^must contain only finite numbers$/,
  // Text is trimmed before its length is checked.
  /^must not be empty$/,
  /^is required (when expires is true|with (latitude|longitude))/,
  // Only the stream needs an upgrade, which the sender of these requests cannot make.
  /^must be websocket$/,
  // Ids must be those of the account, and a token cannot give more than it has.
  /^is not a (device|group|user|database|cell)/,
  /^is the cell that the account is in/,
  // A text without these needs a pattern that no generator understands.
  /^must not contain a NUL character or an unpaired surrogate$/,
  // Of GET …/locations: an export has no pages.
  /^is only for JSON without simplify/,
  // A step of a JSON Patch may add what the resource does not know.
  /^is not a known name/,
  /^must be at most daily(Email|Sms)Limit$/,
  /^must name at least one id$/,
  /^must be an event type|^must have at most \d+ (ids|event types)|^must be ids separated by commas/,
  /^must be an? (https )?URL|^must (not )?(have|be|use|point|contain) .*(host|port|address|user name|password)/i,
  /^must not contain the reserved name __proto__$|^must have at most \d+ levels$/,
  /^must span at most|^must not be more than|^must be less than \d+ days before to$/,
  // The geometry of a zone, and what its position may be. GeoJSON has more kinds than zones.
  /^must be a Circle, a Polygon or a MultiPolygon$/,
  /^must be between -(90|360) and (90|360)$|^must (not cross|be closed|be inside|enclose|not go around)/,
  /^must have at (least|most) (one|\d+) (positions|days|channels|features|entries)/,
  /^must be a time, such as \d\d:\d\d$/,
  // Of a rule: its zones are those of the account, and a patch may add a second limit.
  /^is not a zone of this account|^must be a \w+’s id$|^is required, or below/,
  /^must be at most \d+ days after from$/,
  // Of a watch: a deadline or an interval, and a reminder within it.
  /^is required, or everyMinutes instead|^must be less than (everyMinutes|the interval)$/,
  // Of a webhook: its address depends on the format.
  /^must begin with \w+:\/\/ in the format /,
  // Of a source: its settings depend on the provider. So do those of a webhook on its format.
  /^is not a setting of /,
  /^must be (base64|bytes in the format named|Text for an SMS|at most 256 KiB large)$/,
  /^must have names and values of HTTP headers$/,
  // Of a browser's subscription: its key is a point of the curve.
  /^must be keys of a browser’s subscription$/,
  // Of a share: devices or groups. Of an account: licenses, unless it is a sandbox.
  /^must name a device, unless `groups` names a group$|^is required, except of a sandbox$/,
  // `group` and `groupId` must name the same group.
  /^must be the id of the group that `group` names/,
]

const asNumber = (schema, value) =>
  [schema.type].flat().some((type) => type === 'integer' || type === 'number')
    ? Number(value)
    : value

const fits = (operation, { headers, body, path }) => {
  const type = headers['Content-Type']
  if (body !== undefined) {
    const documented = operation.bodies.find((one) => one.type === type)
    if (!documented || documented.check(JSON.parse(body))) return false
  } else if (operation.bodyRequired) return false
  const query = new URLSearchParams(path.split('?')[1])
  const names = operation.query.map(({ name }) => name)
  if (query.keys().some((name) => !names.includes(name) || query.getAll(name).length > 1))
    return false
  return operation.query.every(
    ({ name, schema, check }) => !query.has(name) || !check(asNumber(schema, query.get(name))),
  )
}

export const findRefusalFaults = (operation, { template, request, reply }) => {
  const { mode, method } = template
  const { status, json } = reply
  if (status !== 400 || mode !== 'valid' || method !== operation.method) return []
  // What a JSON Patch makes of the resource is not in the document.
  if (method === 'PATCH' && request.body?.toString().startsWith('[')) return []
  if (STATE_CODES.has(json.code) || !fits(operation, request)) return []
  const unexplained = (json.errors ?? [{ pointer: '', detail: json.detail }]).filter(
    ({ pointer, detail }) =>
      !RULES.some((rule) => rule.test(detail)) &&
      // Properties of GeoJSON have any type. Only a Point needs a radius, and a text must fit.
      !/^\/features\/\d+\/properties\/(radius|color|description)$/.test(pointer) &&
      // A merge patch of an object that is null must have all its required members.
      !(method === 'PATCH' && detail === 'is required'),
  )
  return unexplained.map(
    ({ pointer, detail }) =>
      `a valid request was refused: ${pointer.replaceAll(/\d+/g, '0')} ${detail}`,
  )
}
