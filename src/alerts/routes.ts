import { Hono } from 'hono'
import { readAlertContext } from '../db/queries/alertContext.ts'
import { allows } from '../domain/account/scope.ts'
import { CHANNELS } from '../domain/message/alert.ts'
import type { UndeliveredReason } from '../domain/message/emergency.ts'
import { isRaisedByReports } from '../domain/message/reportedEmergency.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { derivedAlertId } from '../ids.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log } from '../log.ts'
import { authorOf, requestContext, type ServiceContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import type { NewAlert } from './forms.ts'
import { presentAlert, type StoredAlert, versionOf, warningFor } from './present.ts'
import { queryPage, replyQuery } from './query.ts'
import { findAlert } from './store.ts'

/** The state of an alert that was just raised. */
const NEW_STATE = {
  acknowledgedAt: null,
  acknowledgedBy: null,
  cancelledAt: null,
  cancelledBy: null,
}

/** Logs which alert lost how many messages to the daily limit, never their recipients. */
const logSuppressed = (
  context: ServiceContext,
  { deviceId, id, deliveries }: StoredAlert,
): void => {
  const suppressed = deliveries.filter(({ status }) => status === 'suppressed')
  for (const channel of CHANNELS) {
    const messages = suppressed.filter((delivery) => delivery.channel === channel).length
    if (messages === 0) continue
    log('warn', {
      event: 'message-suppressed',
      requestId: context.requestId,
      account: context.accountId,
      device: deviceId,
      alert: id,
      channel,
      messages,
    })
  }
}

interface Raised {
  alert: StoredAlert
  undelivered: UndeliveredReason | null
}

/** A token with `ingest` alone makes no emergencies of its own naming: each may cost SMS. */
const canDeclareEmergency = (c: Context): boolean => allows(c.get('principal').scopes, 'write')

const raiseAlert = async (
  context: ServiceContext,
  deviceId: string,
  given: NewAlert,
): Promise<Raised> => {
  const { env, db, accountId, groupId, origin } = context
  const now = context.now()
  const { alertName: name, text, notifications: channels, latitude, longitude } = given
  const dateTime = given.dateTime ?? now
  const { isVisible, emergencyAlerts, ...known } = await readAlertContext(
    db,
    { deviceId, accountId, groupId },
    { channels, now },
  )
  if (!isVisible) throw new Problem('device-not-found')
  // An emergency that a location of this time carries, too, is the same alert.
  const hasDerivedId = given.dateTime != null && isRaisedByReports(name, emergencyAlerts)
  const id = hasDerivedId
    ? await derivedAlertId(deviceId, name, dateTime)
    : await context.newId('alr')
  const outcome = requireOk(
    await ledgerOf(env, accountId).raise(deviceId, {
      ...known,
      alert: { id, name, text, dateTime },
      emergency: given.emergency,
      reported:
        latitude === null || longitude === null ? null : { latitude, longitude, time: dateTime },
      origin,
    }),
  )
  const { alert, deliveries, undelivered } = outcome
  if (deliveries === null) {
    const found = await findAlert(db, context, alert.id)
    if (!found) throw new Problem('unavailable')
    return { alert: found, undelivered }
  }
  const stored = { ...alert, deviceId, ...NEW_STATE, updates: [], deliveries }
  logSuppressed(context, stored)
  return { alert: stored, undelivered }
}

const requireAlert = async (context: ServiceContext, id: string): Promise<StoredAlert> => {
  const alert = await findAlert(context.db, context, id)
  if (!alert) throw new Problem('alert-not-found')
  return alert
}

/** What the ledger needs to know of an alert that is acknowledged or cancelled. */
const toAcknowledge = (context: ServiceContext, alert: StoredAlert) => {
  const { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy } = alert
  return {
    alertId: alert.id,
    deviceId: alert.deviceId,
    by: authorOf(context),
    known: { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy },
  }
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
    const { alert, undelivered } = await raiseAlert(requestContext(c), deviceId, {
      ...body.alert,
      emergency: body.alert.emergency && canDeclareEmergency(c),
    })
    const raised = { ...presentReply(alert), ...warningFor(alert, undelivered) }
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
    const alert = await requireAlert(requestContext(c), c.req.param('alertId'))
    return replyWithEtag(c, contract.readAlert, presentReply(alert), { version: versionOf(alert) })
  })
  .post('/:alertId/acknowledge', operation(contract.acknowledgeAlert), async (c) => {
    const context = requestContext(c)
    const found = await requireAlert(context, c.req.param('alertId'))
    const ledger = ledgerOf(c.env, context.accountId)
    const { state } = requireOk(await ledger.acknowledge(toAcknowledge(context, found)))
    const alert = { ...found, ...state }
    const version = versionOf(alert)
    return replyWithEtag(c, contract.acknowledgeAlert, presentReply(alert), { version })
  })
  .post('/:alertId/cancel', operation(contract.cancelAlert), async (c) => {
    const context = requestContext(c)
    const found = await requireAlert(context, c.req.param('alertId'))
    const { deliveries } = found
    const ledger = ledgerOf(c.env, context.accountId)
    const { origin } = context
    const cancelled = { ...toAcknowledge(context, found), alert: found, deliveries, origin }
    const { state } = requireOk(await ledger.cancel(cancelled))
    const alert = { ...found, ...state }
    const version = versionOf(alert)
    return replyWithEtag(c, contract.cancelAlert, presentReply(alert), { version })
  })
