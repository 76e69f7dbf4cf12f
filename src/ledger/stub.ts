import type { Env } from '../env.ts'
import type { AccountLedger } from './ledger.ts'

/** The RPC methods of a ledger, without the platform's wrapping of their types. */
export type Ledger = Pick<
  AccountLedger,
  | 'open'
  | 'account'
  | 'change'
  | 'erase'
  | 'forget'
  | 'device'
  | 'create'
  | 'replace'
  | 'reactivate'
  | 'remove'
  | 'forgetMaker'
  | 'raise'
  | 'raisePending'
  | 'acknowledge'
  | 'cancel'
  | 'notify'
  | 'resend'
  | 'receipt'
  | 'usage'
  | 'licenseLog'
  | 'sweep'
  | 'reconcile'
  | 'scheduleRestore'
  | 'restart'
>

/** All calls to an account's ledger go through this stub. */
export const ledgerOf = (env: Env, accountId: string): Ledger =>
  env.LEDGER.get(env.LEDGER.idFromName(accountId)) as unknown as Ledger
