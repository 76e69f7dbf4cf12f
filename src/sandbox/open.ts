import { type NewAccount, openAccount } from '../admin/open.ts'
import { recordOf, SANDBOX_FLEET } from '../domain/sandbox/fleet.ts'
import type { Context } from '../http/context.ts'
import { logFailure } from '../log.ts'
import { operatorContext } from '../serviceContext.ts'
import { simulate } from './simulate.ts'
import { readSimulated } from './store.ts'

/** Opens an account with simulated devices that have already moved for a while. */
export const openSandbox = async (c: Context, given: NewAccount) => {
  const newId = c.get('newId')
  const devices = await Promise.all(
    SANDBOX_FLEET.map(async (one) => ({ id: await newId('dev'), record: recordOf(one) })),
  )
  const opened = await openAccount(c, given, devices)
  const context = operatorContext(c, opened.account)
  try {
    const [simulated] = await readSimulated(context.db, { ids: [given.id] })
    if (simulated) await simulate(context, simulated)
  } catch (error) {
    // The next sweep makes up for it.
    logFailure('simulation-failed', error, { account: given.id })
  }
  return opened
}
