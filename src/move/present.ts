import type * as z from 'zod'
import { iso } from '../domain/time/iso.ts'
import type { move } from './contract.ts'
import type { Move } from './store.ts'

export const presentMove = (row: Move): z.input<typeof move> => {
  const { fromCell: from, toCell: to, step, creation, changed, fault, position } = row
  const { copied, caughtUp, verified, corrected, frozenMs, switchedAt } = position
  const switched = switchedAt === null ? null : iso(switchedAt)
  const counts = { copied, caughtUp, verified, corrected }
  const times = { started: iso(creation), changed: iso(changed), switched }
  return { from, to, step, ...times, frozenMs, ...counts, fault }
}
