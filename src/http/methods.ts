import type { Hono } from 'hono'
import type { AppEnv, Context } from './context.ts'
import { Problem } from './problem.ts'

interface Known {
  pattern: RegExp
  method: string
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/:[A-Za-z]+/g, '[^/]+')}$`)

/** For what no route took: 405 where the path is known under another method, else 404. */
export const unroutedProblem = (app: Hono<AppEnv>): ((c: Context) => Problem) => {
  let known: Known[] | null = null
  return (c) => {
    known ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ path, method }) => ({ pattern: toPattern(path), method }))
    const methods = new Set(
      known.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method),
    )
    if (methods.size === 0) return new Problem('not-found')
    if (methods.has('GET')) methods.add('HEAD')
    return new Problem('method-not-allowed', {
      headers: { Allow: [...methods.add('OPTIONS')].join(', ') },
    })
  }
}
