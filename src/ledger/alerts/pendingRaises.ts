import { openCell } from '../../db/open.ts'
import { type AlertContext, readAlertContext } from '../../db/queries/alertContext.ts'
import { CHANNELS, NEW_ALERT_STATE } from '../../domain/message/alert.ts'
import { type PendingRaise, pendingIdOf } from '../../domain/message/pendingRaise.ts'
import type { Env } from '../../env.ts'
import { type DescribePlace, loadDescriber } from '../../places/store.ts'
import { readAccount } from '../accounts/accountRow.ts'
import type { Decision } from '../decision.ts'
import { type AlertToRaise, type RaiseOutcome, raiseAlert } from './alerts.ts'
import { admitPress, rememberOther, rememberPress } from './presses.ts'
import { admitRuleRaise } from './ruleRaises.ts'
import { takeStep } from './steps.ts'
import { type CancelledPress, endWaiting, isCancelledBefore } from './trackerCancels.ts'

/* Raising alerts that the cell keeps until they are decided on (`pending_raises`). */

export type { PendingRaise }

type Refusal = Extract<RaiseOutcome, { ok: false }>['refusal']

/** What became of one alert; `alertId` may be of an open emergency that it joined. */
type OneOutcome = { ok: true; alertId: string } | { ok: false; refusal: Refusal }

export type PendingOutcome =
  | { ok: true; outcomes: OneOutcome[] }
  | { ok: false; refusal: 'account-not-found' }

/** What the alerts need from the cell. */
interface Contexts {
  byDevice: Map<string, AlertContext>
  describe: DescribePlace
}

/** Read before the decision. */
export const readContexts = async (
  sql: SqlStorage,
  env: Env,
  raises: PendingRaise[],
): Promise<Contexts | null> => {
  const account = readAccount(sql)
  if (!account) return null
  const { id: accountId, cell } = account
  const db = openCell(env, cell)
  const describing = loadDescriber(env.ASSETS, db, { accountId, groupId: null })
  const byDevice = new Map<string, AlertContext>()
  for (const deviceId of new Set(raises.map((raise) => raise.deviceId))) {
    const device = { deviceId, accountId, groupId: null }
    const now = Date.now()
    const context = await readAlertContext(db, device, { channels: CHANNELS, now })
    const describe = await describing
    byDevice.set(deviceId, { ...context, lastKnown: describe(context.lastKnown) })
  }
  return { byDevice, describe: await describing }
}

/** What the API raises. It may join what a tracker has raised, which then cannot cancel it. */
export const raiseAtOnce = (tx: Decision, deviceId: string, given: AlertToRaise): RaiseOutcome => {
  const outcome = raiseAlert(tx, deviceId, given)
  if (outcome.ok && outcome.deliveries === null)
    rememberOther(tx, outcome.alert.id, given.by ?? null)
  if (outcome.ok && outcome.deliveries !== null)
    tx.audit('alert.raised', { type: 'alert', id: outcome.alert.id }, [
      { path: 'deviceId', from: null, to: deviceId },
      { path: 'alertName', from: null, to: outcome.alert.name },
    ])
  return outcome
}

/** `cancelled` collects the presses that a cancellation came before. */
const raiseOne = (
  tx: Decision,
  raise: PendingRaise,
  context: AlertContext & Pick<Contexts, 'describe'>,
  cancelled: CancelledPress[],
): OneOutcome => {
  const { deviceId, emergency, notifications, origin, rule, press } = raise
  if (rule && !admitRuleRaise(tx, raise, rule)) return { ok: true, alertId: raise.alert.id }
  const admitted = press ? admitPress(tx, raise, press) : raise
  if ('repeatOf' in admitted) return { ok: true, alertId: admitted.repeatOf }
  const { alert, reported } = admitted
  const isCancelled = press !== undefined && isCancelledBefore(tx, { deviceId, alert, press })
  const { describe, ...known } = context
  const outcome = raiseAlert(tx, deviceId, {
    ...known,
    alert: rule ? { ...alert, ruleId: rule.ruleId, zoneId: rule.zoneId } : alert,
    emergency,
    isQuiet: raise.isQuiet === true,
    isCancelled,
    isReported: true,
    reported: describe(reported),
    recipients: context.recipients.filter(({ channel }) => notifications.includes(channel)),
    origin,
    by: press?.sourceId ?? null,
  })
  if (!outcome.ok) return outcome
  const { id: alertId } = outcome.alert
  if (press) rememberPress(tx, raise.alert.id, press, alertId)
  else if (outcome.deliveries === null) rememberOther(tx, alertId, null)
  if (isCancelled && outcome.deliveries !== null) {
    cancelled.push({ deviceId, alert, press })
    takeStep(tx, {
      action: 'cancel',
      alertId,
      deviceId,
      by: press.sourceId ?? '',
      known: { ...NEW_ALERT_STATE, seq: 0 },
      alert: outcome.alert,
      updates: [],
      messages: 0,
      deliveries: [],
      origin,
    })
  }
  return { ok: true, alertId }
}

/**
 * Decides on every alert. The cell deletes them with the same effects that store the alerts:
 * refused ones too, since a later attempt would be refused as well.
 */
export const raisePendingAlerts = (
  tx: Decision,
  raises: PendingRaise[],
  contexts: Contexts | null,
): PendingOutcome => {
  const cancelled: CancelledPress[] = []
  const outcomes = raises.map((raise): OneOutcome => {
    const context = contexts?.byDevice.get(raise.deviceId)
    if (!contexts || !context) return { ok: false, refusal: 'device-not-found' }
    return raiseOne(tx, raise, { ...context, describe: contexts.describe }, cancelled)
  })
  endWaiting(tx, cancelled)
  tx.post({ kind: 'raises-decided', ids: raises.map(pendingIdOf) })
  return { ok: true, outcomes }
}
