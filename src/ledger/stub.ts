import type { Env } from '../env.ts'
import type { AccountLedger } from './ledger.ts'

/** What may be asked of a ledger: its methods, without the platform's wrapping of their types. */
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
  | 'resend'
  | 'receipt'
  | 'usage'
  | 'licenseLog'
  | 'sweep'
  | 'reconcile'
  | 'setBack'
  | 'restart'
>

/** The only door to an account's ledger. */
export const ledgerOf = (env: Env, accountId: string): Ledger =>
  env.LEDGER.get(env.LEDGER.idFromName(accountId)) as unknown as Ledger
