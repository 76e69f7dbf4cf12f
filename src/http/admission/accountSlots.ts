import { isStartTooLate } from '../body/slowBodies.ts'
import type { Context } from '../context.ts'
import { overloaded } from '../contract/problem.ts'
import {
  assign,
  assignAgain,
  awaitSlowBody,
  endWaitOutside,
  releaseWhile,
  tryWaitOutside,
} from './loadShedding.ts'

/** Makes the request's slot one of its account, or throws a 503 when the account's are in use. */
export const requireSlot = async (c: Context): Promise<void> => {
  if (!(await assign(c.req.raw, c.get('principal').accountId))) throw overloaded()
}

/** The same after the request's body has arrived, which it waited for without a slot. */
export const requireSlotAgain = async (c: Context): Promise<void> => {
  if (!(await assignAgain(c.req.raw, c.get('principal').accountId))) throw overloaded()
}

/** Throws a 503 when the work on a slow body could not start in time. */
export const refuseLateSlowBody = (c: Context): void => {
  if (isStartTooLate(c.get('principal').accountId, Date.now())) throw overloaded()
}

/** Waits until the work on a slow body may start, or throws a 503. */
export const requireSlowBodyTurn = async (c: Context, bytes: number): Promise<void> => {
  if (!(await awaitSlowBody(c.req.raw, c.get('principal').accountId, bytes))) throw overloaded()
}

/** Waits for a receiver that the account chose, without a slot: it may take as long as it likes. */
export const waitOutside = <T>(c: Context, wait: () => Promise<T>): Promise<T> => {
  if (!tryWaitOutside(c.req.raw, c.get('principal').accountId)) throw overloaded()
  return releaseWhile(c.req.raw, wait).finally(() => endWaitOutside(c.req.raw))
}
