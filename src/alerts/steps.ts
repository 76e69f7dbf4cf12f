import { readAlertContext } from '../db/queries/alertContext.ts'
import { noteStored, requireStorage } from '../http/budget/meters.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { authorOf, type ServiceContext } from '../serviceContext.ts'
import type { StoredAlert } from './present.ts'
import { findAlert } from './store.ts'

type AlertStep = Parameters<ReturnType<typeof ledgerOf>['takeAlertStep']>[0]

export const requireAlert = async (context: ServiceContext, id: string): Promise<StoredAlert> => {
  const alert = await findAlert(context.db, context, id)
  if (!alert) throw new Problem('alert-not-found')
  return alert
}

/** Whom the account's notices go to when the alert is escalated again. */
const readAdministrators = async ({ db, accountId, now }: ServiceContext, deviceId: string) => {
  const device = { deviceId, accountId, groupId: null }
  return (await readAlertContext(db, device, { channels: [], now: now() })).administrators
}

/** What the ledger needs to know of an alert for any step. */
export const describeStep = (context: ServiceContext, stored: StoredAlert) => {
  const { updates, messages, deliveries, log: _, ...alert } = stored
  const { id: alertId, deviceId } = alert
  const matter = { alert, updates, messages, deliveries, origin: context.origin }
  return { alertId, deviceId, by: authorOf(context), known: alert, ...matter }
}

/** The alert after the step. */
export const takeStep = async (
  context: ServiceContext,
  id: string,
  action: AlertStep['action'],
  note: string | null,
): Promise<StoredAlert> => {
  const { env, db, accountId } = context
  const alert = await requireAlert(context, id)
  if (action === 'note' && !alert.emergency) await requireStorage(context)
  const given = { ...describeStep(context, alert), note }
  const { deviceId } = alert
  const step: AlertStep =
    action === 'reopen'
      ? { ...given, action, administrators: await readAdministrators(context, deviceId) }
      : { ...given, action }
  const { state, seq } = requireOk(await ledgerOf(env, accountId).takeAlertStep(step))
  if (note !== null) noteStored(context)
  const found = await findAlert(db, context, id)
  // The cell may lag behind the ledger.
  return found && found.seq >= seq ? found : { ...(found ?? alert), ...state, seq }
}
