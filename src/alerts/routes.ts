import { Hono } from 'hono'
import { CHANNELS } from '../domain/alert.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { Problem, requireOk } from '../http/problem.ts'
import { reply, replyWithEtag } from '../http/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log } from '../log.ts'
import { publicOrigin } from '../notify/provider.ts'
import { readAlertContext } from './alertContext.ts'
import * as contract from './contract.ts'
import type { NewAlert } from './forms.ts'
import { presentAlert, type StoredAlert, versionOf, warningFor } from './present.ts'
import { queryPage, replyQuery } from './query.ts'
import { acknowledgeAlert, findAlert } from './store.ts'

/** Logs which alert lost how many messages to the daily limit, never their recipients. */
const logSuppressed = (c: Context, { deviceId, id, deliveries }: StoredAlert): void => {
  const suppressed = deliveries.filter(({ status }) => status === 'suppressed')
  for (const channel of CHANNELS) {
    const messages = suppressed.filter((delivery) => delivery.channel === channel).length
    if (messages === 0) continue
    log('warn', {
      event: 'message-suppressed',
      requestId: c.get('requestId'),
      account: c.get('principal').accountId,
      device: deviceId,
      alert: id,
      channel,
      messages,
    })
  }
}

const raiseAlert = async (c: Context, deviceId: string, given: NewAlert): Promise<StoredAlert> => {
  const principal = c.get('principal')
  const { accountId, groupId } = principal
  const now = Date.now()
  const { alertName: name, text, notifications: channels } = given
  const dateTime = given.dateTime ?? now
  const { isVisible, place, recipients } = await readAlertContext(
    c.get('db'),
    { deviceId, accountId, groupId },
    { channels, now },
  )
  if (!isVisible) throw new Problem('device-not-found')
  const { latitude, longitude } = given.latitude === null ? (place ?? given) : given
  const alert = { id: await c.get('newId')('alr'), name, text, dateTime, latitude, longitude }
  const origin = publicOrigin(c.env) ?? new URL(c.req.url).origin
  const raised = { alert, recipients, origin }
  const outcome = requireOk(await ledgerOf(c.env, accountId).raise(deviceId, raised))
  if (outcome.repeated) {
    const found = await findAlert(c.get('db'), principal, alert.id)
    if (!found) throw new Problem('unavailable')
    return found
  }
  const { deliveries } = outcome
  const stored = { ...alert, deviceId, acknowledgedAt: null, acknowledgedBy: null, deliveries }
  logSuppressed(c, stored)
  return stored
}

const presentReply = (alert: StoredAlert) => ({
  success: true as const,
  alert: presentAlert(alert),
})

export const deviceAlerts = new Hono<AppEnv>()
  .post('/:deviceId/alerts', operation(contract.postAlerts), async (c) => {
    const body = c.req.valid('json')
    const deviceId = c.req.param('deviceId')
    if (body.kind === 'query') return replyQuery(c, body, deviceId)
    const alert = await raiseAlert(c, deviceId, body.alert)
    const raised = { ...presentReply(alert), ...warningFor(alert) }
    const version = versionOf(alert)
    const location = `/api/alerts/${alert.id}`
    return replyWithEtag(c, contract.postAlerts, raised, { version, location })
  })
  .get('/:deviceId/alerts', operation(contract.listDeviceAlerts), async (c) => {
    const query = { ...c.req.valid('query'), deviceId: c.req.param('deviceId') }
    return reply(c, contract.listDeviceAlerts, await queryPage(c, query, '#/query/cursor'))
  })

export const alerts = new Hono<AppEnv>()
  .get('/', operation(contract.listAlerts), async (c) => {
    const query = { ...c.req.valid('query'), deviceId: null }
    return reply(c, contract.listAlerts, await queryPage(c, query, '#/query/cursor'))
  })
  .get('/:alertId', operation(contract.readAlert), async (c) => {
    const alert = await findAlert(c.get('db'), c.get('principal'), c.req.param('alertId'))
    if (!alert) throw new Problem('alert-not-found')
    return replyWithEtag(c, contract.readAlert, presentReply(alert), { version: versionOf(alert) })
  })
  .post('/:alertId/acknowledge', operation(contract.acknowledgeAlert), async (c) => {
    const principal = c.get('principal')
    const alert = await acknowledgeAlert(c.get('db'), principal, {
      id: c.req.param('alertId'),
      by: principal.userId ?? principal.keyId,
      now: Date.now(),
    })
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, principal))
    if (!alert) throw new Problem('alert-not-found')
    const version = versionOf(alert)
    return replyWithEtag(c, contract.acknowledgeAlert, presentReply(alert), { version })
  })
