import { canGrant, type Ends, hasEnded } from '../../domain/account/license.ts'
import type { Day } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import { addEnding, findAvailableAt } from './endings.ts'

/** When a device ends, or `absent`: before it is created and after it is deleted. */
export type Expiry = Ends | 'absent'

const isActive = (expiry: Expiry, today: Day): boolean =>
  expiry !== 'absent' && !hasEnded(expiry, today)

export interface NoLicense {
  ok: false
  refusal: 'no-license-available'
  availableAt: number | null
}

export type Transfer = { ok: true; became: 'active' | 'ended' | 'same' } | NoLicense

/** Refuses a grant and adds the refusal to the license log. */
export const refuseLicense = (tx: Decision, deviceId: string | null): NoLicense => {
  tx.log('refused', deviceId)
  const availableAt = findAvailableAt(tx.sql, tx.account)
  return { ok: false, refusal: 'no-license-available', availableAt }
}

/** The only way to take or return a license. A refusal changes nothing but the license log. */
export const transferLicense = (
  tx: Decision,
  deviceId: string,
  before: Expiry,
  after: Expiry,
): Transfer => {
  const { sql, account } = tx
  const was = isActive(before, account.day)
  const will = isActive(after, account.day)
  if (!was && will && !canGrant(account)) return refuseLicense(tx, deviceId)
  if (before !== after) {
    if (before !== 'absent') addEnding(sql, before, -1)
    if (after !== 'absent') addEnding(sql, after, 1)
  }
  if (was === will) return { ok: true, became: 'same' }
  account.used += will ? 1 : -1
  tx.log(will ? 'granted' : after === 'absent' ? 'released' : 'expired', deviceId)
  return { ok: true, became: will ? 'active' : 'ended' }
}
