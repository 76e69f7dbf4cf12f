import { type AlertContext, readAlertContext } from '../db/alertContext.ts'
import { openCell } from '../db/open.ts'
import type { Account } from '../domain/account.ts'
import { CHANNELS } from '../domain/alert.ts'
import type { PendingRaise } from '../domain/pendingRaise.ts'
import type { Env } from '../env.ts'
import { type RaiseOutcome, raiseAlert } from './alerts.ts'
import type { Decision } from './decision.ts'

/* Raising alerts that the cell keeps until they are decided on (`pending_raises`). */

/** What became of a pending alert; `alertId` may be of an open emergency that it joined. */
export type PendingOutcome =
  | { ok: true; alertId: string }
  | { ok: false; refusal: Extract<RaiseOutcome, { ok: false }>['refusal'] }

/** What the raised alerts need from the cell, by device. Read before the decision. */
export const readContexts = async (
  env: Env,
  { id: accountId, cell }: Account,
  raises: PendingRaise[],
): Promise<Map<string, AlertContext>> => {
  const db = openCell(env, cell)
  const contexts = new Map<string, AlertContext>()
  for (const deviceId of new Set(raises.map((raise) => raise.deviceId))) {
    const device = { deviceId, accountId, groupId: null }
    const now = Date.now()
    contexts.set(deviceId, await readAlertContext(db, device, { channels: CHANNELS, now }))
  }
  return contexts
}

const raiseOne = (tx: Decision, raise: PendingRaise, context: AlertContext): PendingOutcome => {
  const { deviceId, alert, emergency, reported, notifications, origin } = raise
  const { lastKnown, recipients, administrators } = context
  const outcome = raiseAlert(tx, deviceId, {
    alert,
    emergency,
    isRemembered: true,
    reported,
    lastKnown,
    recipients: recipients.filter(({ channel }) => notifications.includes(channel)),
    administrators,
    origin,
  })
  return outcome.ok ? { ok: true, alertId: outcome.alert.id } : outcome
}

/**
 * Decides on every alert. The cell deletes them with the same effects that store the alerts:
 * refused ones too, since a later attempt would be refused as well.
 */
export const raisePending = (
  tx: Decision,
  raises: PendingRaise[],
  contexts: Map<string, AlertContext>,
): PendingOutcome[] => {
  const outcomes = raises.map((raise): PendingOutcome => {
    const context = contexts.get(raise.deviceId)
    return context ? raiseOne(tx, raise, context) : { ok: false, refusal: 'device-not-found' }
  })
  tx.post({ kind: 'raises-decided', ids: raises.map(({ alert }) => alert.id) })
  return outcomes
}
