import type { Hono } from 'hono'
import type { AppEnv, Context } from '../context.ts'
import { Problem } from './problem.ts'

interface KnownRoute {
  pattern: RegExp
  method: string
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/:[A-Za-z]+/g, '[^/]+')}$`)

const API = {
  detail: 'The paths of the API begin with /api/, such as /api/devices. /docs lists all of them.',
}

const OTHER_CASE = {
  detail: 'Paths match exactly, letter case included. /docs lists all of them.',
}

/** The problem of a request without a route: 405 when the path takes other methods, else 404. */
export const unroutedProblem = (app: Hono<AppEnv>): ((c: Context) => Problem) => {
  let known: KnownRoute[] | null = null
  return (c) => {
    known ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ path, method }) => ({ pattern: toPattern(path), method }))
    const methods = new Set(
      known.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method),
    )
    if (methods.size === 0) {
      const isOtherCase = known.some(({ pattern }) => new RegExp(pattern, 'i').test(c.req.path))
      if (isOtherCase) return new Problem('route-not-found', OTHER_CASE)
      return new Problem('route-not-found', c.req.path === '/api' ? API : {})
    }
    if (methods.has('GET')) methods.add('HEAD')
    return new Problem('method-not-allowed', {
      headers: { Allow: [...methods.add('OPTIONS')].join(', ') },
    })
  }
}
