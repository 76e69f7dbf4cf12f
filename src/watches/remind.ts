import { eq } from 'drizzle-orm'
import { sendByNetwork } from '../commands/send.ts'
import { type Database, openCell } from '../db/open.ts'
import { accounts, devices } from '../db/schema.ts'
import { currentDay, hasEnded } from '../domain/account/license.ts'
import { formatShortTime } from '../domain/message/alertText.ts'
import type { Watch } from '../domain/watch/watch.ts'
import type { Env } from '../env.ts'
import { Problem } from '../http/contract/problem.ts'
import { deriveId } from '../ids.ts'
import { logFailure } from '../log.ts'
import { systemContext } from '../serviceContext.ts'

/* Reminds whoever carries the device that a check-in is due. */

/** The part of the sweep that reminds. */
interface Reminding {
  env: Env
  cell: number
  now: number
}

const findReminded = (db: Database, deviceKey: number) => {
  const { key, id, identifier, ends } = devices
  const { day, timeZone } = accounts
  return db
    .select({ key, id, identifier, ends, day, timeZone })
    .from(devices)
    .innerJoin(accounts, eq(accounts.id, devices.accountId))
    .where(eq(key, deviceKey))
    .get()
}

/** In the account's zone, in which the times of day in texts are read. */
const textOf = (nextDue: number, timeZone: string): string =>
  `Check-in due ${formatShortTime(nextDue, timeZone)}. Reply CHECK-IN.`

/**
 * Sends a command by the device's network, at most once for each deadline, however many watches
 * have it: networks charge for each. A device without a channel gets none, because an SMS would cost.
 * Never throws.
 */
export const remindDevice = async (
  { env, cell, now }: Reminding,
  { accountId, deviceId, deviceKey, nextDue }: Watch,
): Promise<void> => {
  const db = openCell(env, cell)
  const context = systemContext({ env, db, cell, accountId, name: 'sweep', now })
  try {
    const device = await findReminded(context.db, deviceKey)
    if (!device || hasEnded(device.ends, currentDay(device, now))) return
    const commandId = await deriveId('cmd', nextDue, `reminder ${deviceId} ${nextDue}`)
    const command = textOf(nextDue, device.timeZone)
    await sendByNetwork(context, commandId, { device, format: 'Text', command }, (wait) => wait())
  } catch (error) {
    // No channel, or one that does not take the text.
    if (error instanceof Problem) return
    logFailure('reminder-failed', error, { account: accountId, requestId: 'sweep' })
  }
}
