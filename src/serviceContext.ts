import type { Principal } from './auth/principal.ts'
import { type Database, openCell, withJoining, withRetries } from './db/open.ts'
import { isSessionId } from './domain/account/session.ts'
import { type Env, publicOrigin } from './env.ts'
import type { Context } from './http/context.ts'
import { newId } from './ids.ts'

/** Who acts: the id of a key, a user or a source, the word `operator`, or the name of a job. */
export interface Actor {
  type: 'key' | 'user' | 'source' | 'operator' | 'system'
  id: string
}

/** What work on one account needs, whether a request, a push or the sweep asks for it. */
export interface ServiceContext {
  env: Env
  /** The account's cell. */
  db: Database
  cell: number
  accountId: string
  /** The one group that the actor is confined to; null for the whole account. */
  groupId: string | null
  actor: Actor
  /** The user of the session, or of a key that is bound to one; otherwise null. */
  userId: string | null
  /** How many devices of its own making this user may have; null for no limit. */
  adminDevices: number | null
  requestId: string
  /** The service's public origin, for links in messages. */
  readonly origin: string
  now: () => number
  /** Lets work go on after the reply. */
  waitUntil: (promise: Promise<unknown>) => void
  /** Makes an id: a new one, or the same again when an Idempotency-Key repeats a request. */
  newId: (prefix: string) => Promise<string>
}

/** Whom a record names in `by`: the user if there is one, else the key or the source. */
export const authorOf = ({ userId, actor }: ServiceContext): string => userId ?? actor.id

type Caller = Pick<
  ServiceContext,
  'db' | 'cell' | 'accountId' | 'groupId' | 'actor' | 'userId' | 'adminDevices' | 'newId'
>

/** An actor that is no user, and confined to nothing. */
const NO_USER = { groupId: null, userId: null, adminDevices: null }

const ofRequest = (c: Context, caller: Caller): ServiceContext => ({
  ...caller,
  env: c.env,
  requestId: c.get('requestId'),
  // Computed when it is asked for: most requests write no link.
  get origin() {
    return publicOrigin(c.env) ?? new URL(c.req.url).origin
  },
  now: () => Date.now(),
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
})

/** A key that is bound to a user is still a key; a session is its user. */
const actorOf = ({ keyId, userId }: Principal): Actor =>
  userId !== null && isSessionId(keyId) ? { type: 'user', id: userId } : { type: 'key', id: keyId }

/** Of a request whose token was verified. */
export const requestContext = (c: Context): ServiceContext => {
  const principal = c.get('principal')
  const { scopes: _, keyId: __, ...caller } = principal
  const actor = actorOf(principal)
  return ofRequest(c, { ...caller, db: c.get('db'), actor, newId: c.get('newId') })
}

type AccountCell = Pick<ServiceContext, 'db' | 'cell' | 'accountId'>

/** Of a push: it is stored once, so its statements may be repeated. */
export const pushContext = (
  c: Context,
  { source, db, cell, accountId }: AccountCell & { source: { id: string } },
): ServiceContext =>
  ofRequest(c, {
    ...NO_USER,
    db: withJoining(db),
    cell,
    accountId,
    actor: { type: 'source', id: source.id },
    newId,
  })

/** Of a request of the operator that concerns one account. */
export const operatorContext = (c: Context, { id, cell }: { id: string; cell: number }) =>
  ofRequest(c, {
    ...NO_USER,
    db: openCell(c.env, cell),
    cell,
    accountId: id,
    actor: { type: 'operator', id: 'operator' },
    newId: c.get('newId'),
  })

interface Job extends AccountCell {
  env: Env
  /** What `requestId` is in the log lines of this work. */
  name: string
  now: number
  /** The job's own name unless it continues what a source has sent. */
  actor?: Actor
}

/** Of work that no request asks for, such as the sweep. Its statements may be repeated. */
export const systemContext = ({ env, name, now, actor, ...account }: Job): ServiceContext => ({
  ...NO_USER,
  ...account,
  db: withRetries(account.db),
  actor: actor ?? { type: 'system', id: name },
  env,
  requestId: name,
  // No request tells it. Without PUBLIC_URL the links of the job's messages have no host.
  origin: publicOrigin(env) ?? '',
  now: () => now,
  // The job itself keeps the isolate alive. What it does not wait for may be lost.
  waitUntil: () => {},
  newId,
})
