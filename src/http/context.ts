import type { Context as HonoContext } from 'hono'
import type { Database } from '../db/open.ts'
import type { Scope } from '../domain/scope.ts'
import type { Env } from '../env.ts'
import type { Claims } from './token.ts'

/** Who is calling, as the token says and the cell has confirmed. */
export interface Principal {
  accountId: string
  cell: number
  keyId: string
  scopes: Scope[]
  userId: string | null
  /** The one group a bound user is confined to; null for the whole account. */
  groupId: string | null
  /** How many devices of its own making a bound user may have; null for no cap. */
  adminDevices: number | null
}

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
