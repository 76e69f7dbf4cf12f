import { Hono } from 'hono'
import { isSessionId } from '../domain/account/session.ts'
import { checkPublicUrl } from '../domain/text/publicUrl.ts'
import { allowsLoopback } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { writerOf } from '../http/writer.ts'
import { deriveId } from '../ids.ts'
import { areClientKeys } from '../notify/pushEncryption.ts'
import { readPushKey, recallPushKey, rotatePushKey } from '../notify/pushKeys.ts'
import * as contract from './contract.ts'
import { presentSubscription } from './present.ts'
import { deleteSubscription, listSubscriptions, saveSubscription } from './store.ts'

/**
 * The user of the token, and its session unless it is of an API key. Not an agent: what is pushed
 * has links that acknowledge emergencies, and a new subscription may replace the user's oldest.
 */
const requireUser = (c: Context) => {
  const { accountId, userId, keyId, isAgent } = c.get('principal')
  if (isAgent)
    throw new Problem('forbidden', { detail: 'An agent has no push subscriptions. Sign in.' })
  if (userId === null)
    throw new Problem('forbidden', {
      detail: 'The token belongs to no user. Sign in, or use a key that is bound to a user.',
    })
  return { accountId, userId, sessionId: isSessionId(keyId) ? keyId : null, keyId }
}

/** The schema allows loopback; reject it here unless ALLOW_LOOPBACK_WEBHOOKS is set. */
const requireEndpoint = (c: Context, endpoint: string): void => {
  const check = checkPublicUrl(endpoint, allowsLoopback(c.env))
  if (!check.ok) throw invalid({ pointer: '/endpoint', detail: check.detail })
}

const MAX_USER_AGENT_LENGTH = 256

export const ownPushSubscriptions = new Hono<AppEnv>()
  .get('/', operation(contract.listPushSubscriptions), async (c) => {
    const { accountId, userId, keyId } = requireUser(c)
    const found = await listSubscriptions(c.get('db'), accountId, userId)
    return reply(c, contract.listPushSubscriptions, {
      success: true,
      pushSubscriptions: found.map((one) => presentSubscription(one, keyId)),
    })
  })
  .post('/', operation(contract.createPushSubscription), async (c) => {
    const { accountId, userId, sessionId, keyId } = requireUser(c)
    const { endpoint, keys } = c.req.valid('json')
    requireEndpoint(c, endpoint)
    if (!(await areClientKeys(keys)))
      throw invalid({ pointer: '/keys', detail: 'must be keys of a browser’s subscription' })
    // As it is stored now: with a key from before a rotation the browser would get nothing.
    const pushKey = await readPushKey(c.env)
    const saved = await saveSubscription(
      c.get('db'),
      {
        id: await deriveId('psh', 0, `${accountId} ${endpoint}`),
        accountId,
        userId,
        sessionId,
        endpoint,
        ...keys,
        keyId: pushKey.id,
        userAgent: (c.req.header('User-Agent') ?? '').slice(0, MAX_USER_AGENT_LENGTH),
        creation: Date.now(),
      },
      contract.MAX_SUBSCRIPTIONS_PER_USER,
    )
    if (!saved) throw new Problem(sessionId === null ? 'user-disabled' : 'session-ended')
    return reply(
      c,
      contract.createPushSubscription,
      { success: true, pushSubscription: presentSubscription(saved, keyId) },
      { Location: `/api/me/pushSubscriptions/${saved.id}` },
    )
  })
  .delete('/:subscriptionId', operation(contract.deletePushSubscription), async (c) => {
    const { accountId, userId } = requireUser(c)
    const id = c.req.param('subscriptionId')
    if (!(await deleteSubscription(c.get('db'), { accountId, userId, id }, Date.now())))
      throw new Problem('subscription-not-found')
    return reply(c, contract.deletePushSubscription, { success: true })
  })

export const pushKey = new Hono<AppEnv>().get(
  '/key',
  operation(contract.readPushKey),
  async (c) => {
    const { publicKey } = await recallPushKey(c.env, Date.now())
    return reply(c, contract.readPushKey, { success: true, publicKey })
  },
)

export const pushKeyRotation = new Hono<AppEnv>().post(
  '/rotateKey',
  operation(contract.rotatePushKey),
  async (c) => {
    const { publicKey } = await rotatePushKey(c.env, writerOf(c))
    return reply(c, contract.rotatePushKey, { success: true, publicKey })
  },
)
