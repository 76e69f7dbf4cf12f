import type { Context } from '../context.ts'
import { Problem, type Refused, requireOk } from '../contract/problem.ts'

const MAX_TRIES = 100

/**
 * Repeats `attempt` until no concurrent edit interferes. With If-Match a lost race is a 412;
 * without it one edit wins each round, so the retries end.
 */
const retryOnConflict = async <T>(
  c: Context,
  attempt: () => Promise<T | 'precondition-failed'>,
): Promise<T> => {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await attempt()
    if (outcome !== 'precondition-failed') return outcome
    if (c.get('ifMatch')) throw new Problem('precondition-failed')
  }
  throw new Problem('conflict')
}

/** The versions a write must match, or 412 when If-Match names another than the one read. */
const expectedVersions = (c: Context, version: number): number[] => {
  if (c.get('ifMatch')?.includes(version) === false) throw new Problem('precondition-failed')
  return [version]
}

interface Edit<Resource, Change, Outcome> {
  /** Reads the resource; throws a 404 problem when the caller cannot see it. */
  find: () => Promise<Resource>
  change: (before: Resource) => Change | Promise<Change>
  /** Writes only while the resource has one of `versions`, else refuses `precondition-failed`. */
  write: (before: Resource, change: Change, versions: number[]) => Promise<Outcome>
}

/** PUT and PATCH of one resource: reads, changes and writes it, again after a lost race. */
export const editResource = <
  Resource extends { version: number },
  Change,
  Outcome extends { ok: true } | Refused,
>(
  c: Context,
  { find, change, write }: Edit<Resource, Change, Outcome>,
): Promise<Extract<Outcome, { ok: true }>> =>
  retryOnConflict(c, async () => {
    const before = await find()
    const versions = expectedVersions(c, before.version)
    const outcome = await write(before, await change(before), versions)
    const isConflict = !outcome.ok && outcome.refusal === 'precondition-failed'
    return isConflict ? 'precondition-failed' : requireOk(outcome)
  })
