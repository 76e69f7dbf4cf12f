import type { Context } from '../context.ts'
import { PROBLEMS, Problem, type ProblemCode } from '../contract/problem.ts'

/** The 404 for a value of a path parameter that names nothing: `:deviceId` → `device-not-found`. */
export const parameterNotFound = (parameter: string): Problem => {
  const code = `${parameter.slice(1).replace(/Id$/, '')}-not-found`
  return new Problem(Object.hasOwn(PROBLEMS, code) ? (code as ProblemCode) : 'route-not-found')
}

/** What a path parameter names, or its 404. */
export const requireInPath = async <Resource>(
  c: Context,
  parameter: string,
  find: (id: string) => Promise<Resource | null | undefined>,
): Promise<Resource> => {
  const found = await find(c.req.param(parameter) ?? '')
  if (!found) throw parameterNotFound(`:${parameter}`)
  return found
}
