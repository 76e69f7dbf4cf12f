import { readRoundState } from '../db/queries/recipients.ts'
import { noteStored, requireStorage } from '../http/budget/meters.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { loadDescriber } from '../places/store.ts'
import { authorOf, type ServiceContext, writerIn } from '../serviceContext.ts'
import type { StoredAlert } from './present.ts'
import { findAlert } from './store.ts'

type AlertStep = Parameters<ReturnType<typeof ledgerOf>['takeAlertStep']>[0]

export const requireAlert = async (context: ServiceContext, id: string): Promise<StoredAlert> => {
  const alert = await findAlert(context.db, context, id)
  if (!alert) throw new Problem('alert-not-found')
  return alert
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
  const { env, db, accountId, now } = context
  const alert = await requireAlert(context, id)
  if (action === 'note' && !alert.emergency) await requireStorage(context)
  const given = { ...describeStep(context, alert), note }
  const about = { accountId, deviceId: alert.deviceId, now: now() }
  const step = async (): Promise<AlertStep> => {
    if (action === 'reopen') {
      const state = await readRoundState(db, about, id)
      const describe = await loadDescriber(env.ASSETS, db, { accountId, groupId: null })
      const lastLocation = describe(state.lastLocation)
      return { ...given, action, state: { ...state, lastLocation } }
    }
    if (action === 'note') return { ...given, action, noteId: await context.newId('note') }
    return { ...given, action }
  }
  const ledger = ledgerOf(env, accountId)
  const { state, seq } = requireOk(await ledger.takeAlertStep(await step(), writerIn(context)))
  if (note !== null) noteStored(context)
  const found = await findAlert(db, context, id)
  // The cell may lag behind the ledger.
  return found && found.seq >= seq ? found : { ...(found ?? alert), ...state, seq }
}
