import { isObject } from '../../domain/text/json.ts'
import type { Context } from '../context.ts'
import { addLink, setHeader } from '../reply/newReply.ts'

/** That an operation, or a member of its requests, should no longer be used. Days are of UTC. */
export interface Deprecation {
  /** Since when, YYYY-MM-DD. */
  since: string
  /** From when on it may be gone; at least a year after `since`. Absent while that is open. */
  sunset?: string
  /** What to use instead, as a sentence. */
  instead: string
}

export interface Deprecations {
  deprecated?: Deprecation
  /** By the names of query parameters and of members at the top of the body. */
  deprecatedMembers?: Readonly<Record<string, Deprecation>>
}

const earliest = (days: readonly (string | undefined)[]): string | undefined =>
  days.filter((day) => day !== undefined).sort()[0]

/** Names the date and the end in the reply: RFC 9745 and RFC 8594. */
const announce = (c: Context, used: readonly Deprecation[]): void => {
  const since = earliest(used.map((deprecation) => deprecation.since))
  if (since === undefined) return
  setHeader(c, 'Deprecation', `@${Date.parse(since) / 1000}`)
  const sunset = earliest(used.map((deprecation) => deprecation.sunset))
  if (sunset !== undefined) setHeader(c, 'Sunset', new Date(sunset).toUTCString())
  addLink(c, '</docs>; rel="deprecation"; type="text/html"')
}

/** A JSON Patch names members by its paths. */
const namesIn = (body: unknown): string[] => {
  if (!Array.isArray(body)) return isObject(body) ? Object.keys(body) : []
  return body.flatMap((step: unknown) =>
    isObject(step) && typeof step.path === 'string' ? (step.path.split('/')[1] ?? []) : [],
  )
}

interface Marked extends Deprecations {
  wrapper?: string
  patches?: { wrapper?: string }
}

/** Marks the reply if the operation is deprecated, or a member that this request has. */
export const markDeprecated = (c: Context, contract: Marked, body?: unknown): void => {
  const { deprecated, deprecatedMembers = {}, wrapper = contract.patches?.wrapper ?? '' } = contract
  if (!deprecated && !contract.deprecatedMembers) return
  const wrapped = isObject(body) && Object.hasOwn(body, wrapper) ? body[wrapper] : body
  const names = new Set([...Object.keys(c.req.query()), ...namesIn(wrapped)])
  const members = Object.entries(deprecatedMembers).filter(([name]) => names.has(name))
  announce(c, [...(deprecated ? [deprecated] : []), ...members.map(([, member]) => member)])
}
