import { completeOutcome } from '../account/ledgerAccount.ts'
import { issueApiKey } from '../auth/secret.ts'
import { openDirectory } from '../db/open.ts'
import type { Account } from '../domain/account/account.ts'
import type { DeviceRecord } from '../domain/account/device.ts'
import type { Scope } from '../domain/account/scope.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { Context } from '../http/context.ts'
import { notUpgraded, requireOk } from '../http/contract/problem.ts'
import { NEWEST_VERSION } from '../http/version/versions.ts'
import { writerOf } from '../http/writer.ts'
import { presentKey } from '../keys/present.ts'
import { insertKey } from '../keys/store.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { operatorContext } from '../serviceContext.ts'
import { type Reservation, reserveEntry } from './reserveEntry.ts'
import { confirmOpening } from './store.ts'

/* Opening an account, with its first API key. */

interface KeyOptions {
  name: string
  scopes: Scope[]
  expires: number | null
  version?: string
}

export const makeKey = async (c: Context, account: Account, options: KeyOptions) => {
  const context = operatorContext(c, account)
  const id = await context.newId('key')
  const { apiKey, hash } = await issueApiKey(id)
  const { version: apiVersion = NEWEST_VERSION, ...rest } = options
  const fresh = { ...rest, id, hash, userId: null, apiVersion }
  const key = await insertKey(context.db, account.id, fresh, context.now())
  if (!key) throw new Error('an unbound key was refused')
  context.waitUntil(pokeIfSubscribed(c.env, context))
  return { key: presentKey(key), apiKey }
}

export interface NewAccount extends Reservation, Pick<Account, 'name' | 'timeZone' | 'total'> {}

/** `devices`: those of a sandbox; left out for any other account. */
export const openAccount = async (
  c: Context,
  given: NewAccount,
  devices?: { id: string; record: DeviceRecord }[],
) => {
  const { id, userName, name, timeZone, total, sandboxOf } = given
  const { number, cell } = await reserveEntry(c, given)
  const sandbox = devices && { of: sandboxOf ?? null, devices }
  const opening = { id, number, cell, userName, name, timeZone, total, ...(sandbox && { sandbox }) }
  const { account, sent } = requireOk(
    completeOutcome(await ledgerOf(c.env, id).openAccount(opening, writerOf(c))),
  )
  // An object of the release before knows no sandboxes: its messages would be sent.
  if (sandbox && !account.sandbox) throw notUpgraded()
  const first = { name: 'first', scopes: ['admin' as const], expires: null }
  const { apiKey } = await makeKey(c, account, first)
  await confirmOpening(openDirectory(c.env), id)
  return { account, sent, apiKey }
}
