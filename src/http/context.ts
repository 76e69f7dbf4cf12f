import type { Context as HonoContext } from 'hono'
import type { Principal } from '../auth/principal.ts'
import type { Claims } from '../auth/token.ts'
import type { Database } from '../db/open.ts'
import type { Actor } from '../domain/admin/audit.ts'
import type { OperatorRole, OperatorSignIn } from '../domain/admin/operator.ts'
import type { Env } from '../env.ts'

export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    /** What every reply to this request has, and what handlers have added: see `newReply`. */
    replyHeaders: Record<string, string>
    /** Values of `Set-Cookie`: see cookie.ts. */
    cookies: string[] | undefined
    /** `claims`, `principal` and `db` are set once the token is verified. */
    claims: Claims
    principal: Principal
    /** Who operates, once an operator is admitted. */
    operator: Actor
    /** What that operator may do, and how it signed in. */
    operatorAccess: { role: OperatorRole; signIn: OperatorSignIn }
    /** The version of the API that the caller's key pins; undefined without a key. */
    pinnedVersion: string | undefined
    /** What the request counts in the rate limit; undefined while it is one. */
    counted: number | undefined
    /** The account's cell. */
    db: Database
    /** Makes an id: a new one, or the same again when an Idempotency-Key repeats a request. */
    newId: (prefix: string) => Promise<string>
    /** The versions that If-Match names; null when any will do. */
    ifMatch: number[] | null
    /** Where the resource is in the body, once that is parsed: `/device`, or empty. */
    bodyPrefix: string | undefined
  }
}

export type Context = HonoContext<AppEnv>
