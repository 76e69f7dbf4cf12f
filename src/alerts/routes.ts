import { Hono } from 'hono'
import { CHANNELS, type Delivery } from '../domain/alert.ts'
import { iso } from '../domain/iso.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { makeCursor, readCursor } from '../http/page.ts'
import { Problem } from '../http/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log } from '../log.ts'
import { publicOrigin } from '../notify/provider.ts'
import { readAlertContext } from './alertContext.ts'
import * as contract from './contract.ts'
import { type Listing, listAlerts } from './list.ts'
import { presentAlert, type StoredAlert, versionOf, warningFor } from './present.ts'
import { acknowledgeAlert, findAlert } from './store.ts'

const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31)

interface AlertQuery {
  from?: number | undefined
  to?: number | undefined
  alertName?: string | undefined
  sort: Listing['sort']
  limit: number
  cursor?: string | undefined
}

/** A page of alerts, the same by POST and by GET: a cursor of one is good for the other. */
const answerQuery = async (
  c: Context,
  deviceId: string | null,
  query: AlertQuery,
  cursorPointer: string,
) => {
  const { from, to, alertName: name, sort, limit, cursor } = query
  const asked = new URLSearchParams({ sort })
  if (from !== undefined) asked.set('from', iso(from))
  if (to !== undefined) asked.set('to', iso(to))
  if (name !== undefined) asked.set('alertName', name)
  const list = `${c.req.path}?${asked}`
  const after = await readCursor(c, cursor, list, cursorPointer)
  const listing = { deviceId, from: from ?? EARLIEST, to: to ?? LATEST, name, sort, after, limit }
  const page = await listAlerts(c.get('db'), c.get('principal'), listing)
  if (!page) throw new Problem('not-found')
  const nextCursor = page.next && (await makeCursor(c, page.next, list))
  if (nextCursor) {
    asked.set('limit', String(limit))
    asked.set('cursor', nextCursor)
    c.header('Link', `<${c.req.path}?${asked}>; rel="next"`)
  }
  return c.json({ success: true as const, alerts: page.alerts.map(presentAlert), nextCursor })
}

/** What does not go out is in the log too: which alert and how many, never to whom. */
const logSuppressed = (c: Context, device: string, alert: string, deliveries: Delivery[]): void => {
  for (const channel of CHANNELS) {
    const messages = deliveries.filter(
      (delivery) => delivery.channel === channel && delivery.status === 'suppressed',
    ).length
    if (messages === 0) continue
    const { accountId: account } = c.get('principal')
    log('warn', {
      event: 'message-suppressed',
      requestId: c.get('requestId'),
      account,
      device,
      alert,
      channel,
      messages,
    })
  }
}

const raise = async (
  c: Context,
  deviceId: string,
  given: contract.NewAlert,
): Promise<StoredAlert> => {
  const principal = c.get('principal')
  const now = Date.now()
  const { isVisible, place, recipients } = await readAlertContext(
    c.get('db'),
    principal,
    deviceId,
    given.notifications,
    now,
  )
  if (!isVisible) throw new Problem('not-found')
  const { alertName: name, text, dateTime = now } = given
  const { latitude, longitude } = given.latitude === null ? (place ?? given) : given
  const alert = { id: await c.get('newId')('alr'), name, text, dateTime, latitude, longitude }
  const origin = publicOrigin(c.env) ?? new URL(c.req.url).origin
  const outcome = await ledgerOf(c.env, principal.accountId).raise(deviceId, {
    alert,
    recipients,
    origin,
  })
  if (!outcome.ok) throw new Problem(outcome.refusal)
  if (!outcome.repeated) logSuppressed(c, deviceId, alert.id, outcome.deliveries)
  if (!outcome.repeated)
    return {
      ...alert,
      deviceId,
      acknowledgedAt: null,
      acknowledgedBy: null,
      deliveries: outcome.deliveries,
    }
  const stored = await findAlert(c.get('db'), principal, alert.id)
  if (!stored) throw new Problem('unavailable')
  return stored
}

const answer = (c: Context, alert: StoredAlert | null) => {
  if (!alert) throw new Problem('not-found')
  return replyWithEtag(c, { success: true, alert: presentAlert(alert) }, versionOf(alert))
}

export const deviceAlerts = new Hono<AppEnv>()
  .post('/:deviceId/alerts', operation(contract.postAlerts), async (c) => {
    const body = c.req.valid('json')
    const deviceId = c.req.param('deviceId')
    if (body.kind === 'query') return answerQuery(c, deviceId, body, '/cursor')
    const alert = await raise(c, deviceId, body.alert)
    const reply = { success: true, alert: presentAlert(alert), ...warningFor(alert) }
    return replyWithEtag(c, reply, versionOf(alert), 201, { Location: `/api/alerts/${alert.id}` })
  })
  .get('/:deviceId/alerts', operation(contract.listDeviceAlerts), (c) =>
    answerQuery(c, c.req.param('deviceId'), c.req.valid('query'), '#/query/cursor'),
  )

export const alerts = new Hono<AppEnv>()
  .get('/', operation(contract.listAlerts), (c) =>
    answerQuery(c, null, c.req.valid('query'), '#/query/cursor'),
  )
  .get('/:alertId', operation(contract.readAlert), async (c) =>
    answer(c, await findAlert(c.get('db'), c.get('principal'), c.req.param('alertId'))),
  )
  .post('/:alertId/acknowledge', operation(contract.acknowledgeAlert), async (c) => {
    const principal = c.get('principal')
    const by = principal.userId ?? principal.keyId
    const alert = await acknowledgeAlert(
      c.get('db'),
      principal,
      c.req.param('alertId'),
      by,
      Date.now(),
    )
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, principal))
    return answer(c, alert)
  })
