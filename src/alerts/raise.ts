import { readAlertContext } from '../db/queries/alertContext.ts'
import { CHANNELS, NEW_ALERT_STATE } from '../domain/message/alert.ts'
import { placeOf } from '../domain/message/alertText.ts'
import type { Undelivered } from '../domain/message/emergency.ts'
import { newestPlaceOf } from '../domain/message/newestPlace.ts'
import { isRaisedByReports } from '../domain/message/reportedEmergency.ts'
import { isClockWrong } from '../domain/track/credible.ts'
import { noteStored, requireStorage } from '../http/budget/meters.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { derivedAlertId } from '../ids.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { log } from '../log.ts'
import { loadDescriber } from '../places/store.ts'
import { authorOf, type ServiceContext, writerIn } from '../serviceContext.ts'
import type { NewAlert } from './forms.ts'
import type { StoredAlert } from './present.ts'
import { findAlert } from './store.ts'

/** Logs which alert lost how many messages to the daily limit or the budget, never their recipients. */
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
  undelivered: Undelivered | null
  /** How many users get no message because an alert has too many. */
  recipientsOmitted: number
}

export const raiseAlert = async (
  context: ServiceContext,
  deviceId: string,
  given: NewAlert,
): Promise<Raised> => {
  const { env, db, accountId, groupId, origin } = context
  const now = context.now()
  const { alertName: name, text, notifications: channels, latitude, longitude } = given
  const dateTime = given.dateTime ?? now
  const [{ isVisible, emergencyAlerts, recipientsOmitted, keptSince, ...known }, describe] =
    await Promise.all([
      readAlertContext(db, { deviceId, accountId, groupId }, { channels, now }),
      loadDescriber(env.ASSETS, db, { accountId, groupId: null }),
    ])
  if (!isVisible) throw new Problem('device-not-found')
  const isEmergency = given.emergency || isRaisedByReports(name, emergencyAlerts)
  if (!isEmergency || given.test) {
    if (context.status === 'disabled') throw new Problem('account-disabled')
    await requireStorage(context)
  }
  // A clock that is wrong may give two presses of a button the same time.
  const isCredible = given.dateTime != null && dateTime >= keptSince && !isClockWrong(dateTime, now)
  // An emergency that a location of this time carries, too, is the same alert.
  const hasDerivedId = isCredible && !given.test && isRaisedByReports(name, emergencyAlerts)
  const id = hasDerivedId
    ? await derivedAlertId(deviceId, name, dateTime)
    : await context.newId('alr')
  const place = placeOf({ latitude, longitude })
  const lastKnown = describe(known.lastKnown)
  const outcome = requireOk(
    await ledgerOf(env, accountId).raiseAlert(
      deviceId,
      {
        ...known,
        alert: { id, name, text, dateTime },
        emergency: given.emergency,
        by: authorOf(context),
        isDrill: given.test,
        reported: describe(place && { ...place, time: dateTime }),
        lastKnown,
        origin,
      },
      writerIn(context),
    ),
  )
  noteStored(context)
  const { alert, deliveries, undelivered } = outcome
  if (deliveries === null) {
    const found = await findAlert(db, context, alert.id)
    if (!found) throw new Problem('unavailable')
    const { newest = null } = found
    const described = newest?.source === 'location' ? describe(newest) : newest
    return { alert: { ...found, newest: described }, undelivered, recipientsOmitted: 0 }
  }
  const state = { ...NEW_ALERT_STATE, seq: 0, receivedAt: now, messages: 0 }
  const newest = newestPlaceOf(alert, [], lastKnown)
  const stored = { ...alert, deviceId, ...state, updates: [], deliveries, newest }
  logSuppressed(context, stored)
  return { alert: stored, undelivered, recipientsOmitted }
}
