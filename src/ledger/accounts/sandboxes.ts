import { changesBetween } from '../../domain/admin/audit.ts'
import { extendedEnd } from '../../domain/sandbox/sandbox.ts'
import type { Decision } from '../decision.ts'
import { createDevice } from '../devices/devices.ts'
import { type AccountOutcome, type AccountRefusal, acceptAccount, type Opening } from './account.ts'
import { saveAccount } from './accountRow.ts'
import { eraseAccount } from './ending.ts'

/* Decisions about a sandbox. */

const NOBODY = { userId: null, groupId: null, cap: null }

/** In the transaction that opens the sandbox: it has all of them or does not exist. */
export const createDevices = (
  tx: Decision,
  devices: NonNullable<Opening['sandbox']>['devices'],
): void => {
  for (const { id, record } of devices)
    if (!createDevice(tx, id, record, NOBODY).ok) throw new Error('a sandbox lacks a device')
}

export type KeepOutcome =
  | AccountOutcome
  | { ok: false; refusal: 'not-a-sandbox' | 'sandbox-end-reached' }

/** It stays a sandbox. One that is never erased stays so. */
const keepUntil = (tx: Decision, erasesAt: number | null): KeepOutcome => {
  const { account, now } = tx
  const { sandbox } = account
  if (!sandbox) return { ok: false, refusal: 'not-a-sandbox' }
  if (sandbox.erasesAt === null) return acceptAccount(tx)
  const kept = { sandbox: { ...sandbox, erasesAt } }
  const changes = changesBetween({ sandbox }, kept)
  Object.assign(account, kept, { lastModified: now, version: account.version + 1 })
  tx.audit('account.kept', { type: 'account', id: account.id }, changes)
  saveAccount(tx)
  return acceptAccount(tx)
}

/** For the operator: from now on nothing erases it by itself. */
export const keepSandbox = (tx: Decision): KeepOutcome => keepUntil(tx, null)

/** For its own administrators, a limited number of days: a sandbox is no account for work. */
export const extendSandbox = (tx: Decision): KeepOutcome => {
  const { sandbox, creation } = tx.account
  const { erasesAt = null } = sandbox ?? {}
  if (erasesAt === null) return keepUntil(tx, null)
  const end = extendedEnd(erasesAt, creation, tx.now)
  return end > erasesAt ? keepUntil(tx, end) : { ok: false, refusal: 'sandbox-end-reached' }
}

export const eraseIfDue = (tx: Decision, until: number): { ok: true } | AccountRefusal => {
  const { erasesAt = null } = tx.account.sandbox ?? {}
  return erasesAt !== null && erasesAt <= until ? eraseAccount(tx, null) : { ok: true }
}
