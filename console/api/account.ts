import { signal } from '@preact/signals'
import { live } from '../live/stream.ts'
import { call } from './client.ts'
import type { Account } from './types.ts'

/* The account with its licenses, shared by the pages that show them. */

export const account = signal<Account | null>(null)

export const loadAccount = async (): Promise<Account> => {
  const reply = await call('GET /api/account')
  account.value = reply.account
  return reply.account
}

const refresh = () => {
  if (account.peek()) void loadAccount().catch(() => undefined)
}

live.on(
  [
    'device.created',
    'device.deleted',
    'device.restored',
    'device.expired',
    'device.reactivated',
    'license.*',
    // Access of the operator's support is a key.
    'key.*',
  ],
  refresh,
)
