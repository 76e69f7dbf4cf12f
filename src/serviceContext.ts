import { type Database, openCell, withJoining, withRetries, withWriter } from './db/open.ts'
import type { Actor, Writer } from './domain/admin/audit.ts'
import type { AccountStatus } from './domain/admin/status.ts'
import { type Env, publicOrigin } from './env.ts'
import type { Context } from './http/context.ts'
import { originOf } from './http/origin.ts'
import { actorOf, addressOf, writerAs, writerOf } from './http/writer.ts'
import { newId } from './ids.ts'

/** What work on one account needs, whether a request, a push or the sweep asks for it. */
export interface ServiceContext {
  env: Env
  /** The account's cell. The audit records its writes as this actor's. */
  db: Database
  cell: number
  accountId: string
  /** Of what a disabled account sends, only what carries an emergency is stored. */
  status: AccountStatus
  /** The one group that the actor is confined to; null for the whole account. */
  groupId: string | null
  actor: Actor
  /** Where the request came from; null for a job. */
  address: string | null
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

/** Who writes, for the audit of a decision. */
export const writerIn = ({ actor, requestId, address }: ServiceContext): Writer => ({
  actor,
  requestId,
  address,
})

type Caller = Pick<
  ServiceContext,
  'db' | 'cell' | 'accountId' | 'status' | 'groupId' | 'actor' | 'userId' | 'adminDevices' | 'newId'
>

/** An actor that is no user, and confined to nothing. */
const NO_USER = { groupId: null, userId: null, adminDevices: null }

const ofRequest = (c: Context, { db, ...caller }: Caller): ServiceContext => ({
  ...caller,
  db: withWriter(db, writerAs(c, caller.actor)),
  env: c.env,
  requestId: c.get('requestId'),
  address: addressOf(c),
  // Computed when it is asked for: most requests write no link.
  get origin() {
    return originOf(c)
  },
  now: () => Date.now(),
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
})

/** Of a request whose token was verified. */
export const requestContext = (c: Context): ServiceContext => {
  const principal = c.get('principal')
  const { accountId, cell, status, groupId, userId, adminDevices } = principal
  return ofRequest(c, {
    accountId,
    cell,
    status,
    groupId,
    userId,
    adminDevices,
    db: c.get('db'),
    actor: actorOf(principal),
    newId: c.get('newId'),
  })
}

type AccountCell = Pick<ServiceContext, 'db' | 'cell' | 'accountId'>

interface Pushed extends AccountCell {
  source: { id: string; name: string }
  status: AccountStatus
}

/** Of a push: it is stored once, so its statements may be repeated. */
export const pushContext = (
  c: Context,
  { source, db, cell, accountId, status }: Pushed,
): ServiceContext =>
  ofRequest(c, {
    ...NO_USER,
    status,
    db: withJoining(db),
    cell,
    accountId,
    actor: { type: 'source', id: source.id, name: source.name },
    newId,
  })

/** Of a request of the operator that concerns one account, or of one that opens a sandbox. */
export const operatorContext = (c: Context, { id, cell }: { id: string; cell: number }) =>
  ofRequest(c, {
    ...NO_USER,
    status: 'active',
    db: openCell(c.env, cell),
    cell,
    accountId: id,
    actor: writerOf(c).actor,
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
export const systemContext = ({ env, name, now, ...job }: Job): ServiceContext => {
  const { actor = { type: 'system', id: name, name: null }, ...account } = job
  return {
    ...NO_USER,
    ...account,
    db: withWriter(withRetries(account.db), { actor, requestId: name, address: null }),
    actor,
    address: null,
    status: 'active',
    env,
    requestId: name,
    // No request tells it. Without PUBLIC_URL the links of the job's messages have no host.
    origin: publicOrigin(env) ?? '',
    now: () => now,
    // The job itself keeps the isolate alive. What it does not wait for may be lost.
    waitUntil: () => {},
    newId,
  }
}
