import { isObject, type JsonObject, sameJson } from '../text/json.ts'
import { iso } from '../time/iso.ts'

/** Who acts: the id of a key, a user, a source or an operator, or the name of a job. */
export interface Actor {
  type: 'key' | 'user' | 'operator' | 'source' | 'system'
  id: string
  /** As it was called then; null where nothing has a name. */
  name: string | null
}

/** On whose behalf something is written, and by which request. */
export interface Writer {
  actor: Actor
  requestId: string
  /** The address that the request came from; null for a job. */
  address: string | null
}

/** A member before and after. Of lists, `from` has what was removed, and `to` what was added. */
export interface Change {
  path: string
  from: unknown
  to: unknown
}

/** What the audit says of one write. */
export interface AuditEntry {
  /** Such as `zone.updated`. */
  action: string
  resource: { type: string; id: string }
  changes: Change[]
}

/** How long the audit is kept. */
export const AUDIT_DAYS = 400

/** In place of a secret or a position: that it changed is said, not what it was. */
export const HIDDEN = '(hidden)'

const HIDDEN_NAMES =
  /password|secret|token|apikey|hash|encryptionkey|^url$|^link$|latitude|longitude|^position|^shape$|^center$|^geometry$|coordinates|p256dh|^auth$|^endpoint$/i

const MAX_CHANGES = 50
const MAX_LISTED = 20
const MAX_TEXT = 200
/** From 2001 to 2286. No other number of a record is that great. */
const [FIRST_INSTANT, LAST_INSTANT] = [1_000_000_000_000, 9_999_999_999_999]

/** A value as the audit shows it: bounded, and without what it must not have. */
const show = (name: string, value: unknown): unknown => {
  if (value === undefined || value === null) return null
  if (HIDDEN_NAMES.test(name)) return HIDDEN
  if (typeof value === 'number') {
    const isInstant = value >= FIRST_INSTANT && value <= LAST_INSTANT
    return isInstant ? iso(value) : value
  }
  if (typeof value === 'string')
    return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_LISTED).map((entry) => show(name, entry))
    return value.length > MAX_LISTED ? [...shown, `… ${value.length - MAX_LISTED} more`] : shown
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [member, show(member, inner)]),
  )
}

const without = (list: unknown[], others: unknown[]): unknown[] => {
  const known = new Set(others.map((entry) => JSON.stringify(entry)))
  return list.filter((entry) => !known.has(JSON.stringify(entry)))
}

const collect = (
  path: string,
  name: string,
  [from, to]: [unknown, unknown],
  changes: Change[],
): void => {
  if (sameJson(from, to)) return
  if (isObject(from) && isObject(to) && !HIDDEN_NAMES.test(name)) {
    for (const member of new Set([...Object.keys(from), ...Object.keys(to)]))
      collect(`${path}/${member}`, member, [from[member], to[member]], changes)
    return
  }
  const lists = Array.isArray(from) && Array.isArray(to)
  const removed = lists ? without(from, to) : from
  const added = lists ? without(to, from) : to
  changes.push({ path, from: show(name, removed), to: show(name, added) })
}

/** What a new record leaves unset. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

/**
 * What differs between two records. Members that `after` does not have are not compared: a shown
 * resource has more than its editable members.
 */
export const changesBetween = (before: object | null, after: object): Change[] => {
  const changes: Change[] = []
  const [from, to] = [(before ?? {}) as JsonObject, after as JsonObject]
  for (const name of Object.keys(to))
    if (before || !isEmpty(to[name])) collect(name, name, [from[name], to[name]], changes)
  return changes.slice(0, MAX_CHANGES)
}
