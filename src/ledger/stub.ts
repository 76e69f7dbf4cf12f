import type { DurableObject } from 'cloudflare:workers'
import { type Env, stubOf } from '../env.ts'
import type { AccountLedger } from './ledger.ts'

/** The RPC methods of a ledger, without the platform's wrapping of their types. */
export type Ledger = Omit<AccountLedger, keyof DurableObject>

/** All calls to an account's ledger go through this stub. */
export const ledgerOf = (env: Env, accountId: string): Ledger =>
  stubOf(env, env.LEDGER, accountId) as unknown as Ledger
