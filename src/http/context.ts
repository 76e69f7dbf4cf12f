import type { Context as HonoContext } from 'hono'
import type { Principal } from '../auth/principal.ts'
import type { Claims } from '../auth/token.ts'
import type { Database } from '../db/open.ts'
import type { Env } from '../env.ts'

export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    /** Set once the token has proved good: what it says, and whom it speaks for. */
    claims: Claims
    principal: Principal
    /** The account's cell. */
    db: Database
    /** A fresh id, or the same one again where an Idempotency-Key repeats a request. */
    newId: (prefix: string) => Promise<string>
    /** The versions that If-Match names; null where the caller does not mind. */
    ifMatch: number[] | null
  }
}

export type Context = HonoContext<AppEnv>
