import { Hono } from 'hono'
import { completeOutcome } from '../account/ledgerAccount.ts'
import { evictKeysOfAccount } from '../auth/keyStatus.ts'
import { openCell, withRetries } from '../db/open.ts'
import { currentDay } from '../domain/account/license.ts'
import type { AccountStatus } from '../domain/admin/status.ts'
import { parseEmergencySettings } from '../domain/message/emergency.ts'
import { parseMessageOverrides } from '../domain/message/messageBudget.ts'
import { parseSandbox, SANDBOX_LICENSES } from '../domain/sandbox/sandbox.ts'
import { fold } from '../domain/text/fold.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import { applyPatch } from '../http/body/patch.ts'
import { rereadBudgets } from '../http/budget/meters.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, requireOk } from '../http/contract/problem.ts'
import { refuseLinkInName } from '../http/contract/validation.ts'
import { replyList } from '../http/paging/list.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { editResource } from '../http/resource/editResource.ts'
import { writerOf } from '../http/writer.ts'
import { requireFutureExpiry } from '../keys/contract.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { openSandbox } from '../sandbox/open.ts'
import { operatorContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { makeKey, openAccount } from './open.ts'
import { budgetContext, presentWrapped, readBudgetContext } from './operated.ts'
import { presentEditable, presentOperatedAccount } from './present.ts'
import { recovery } from './recoveryRoutes.ts'
import { findRequested, readRequested, requireExisting } from './requested.ts'
import { searchAccounts } from './search.ts'
import { type DirectoryEntry, readAccounts } from './store.ts'

/** The accounts of directory entries as they are in their cells, in the order of the entries. */
const readListed = async (c: Context, entries: DirectoryEntry[]) => {
  const byCell = Map.groupBy(entries, ({ cell }) => cell)
  const found = await Promise.all(
    [...byCell].map(async ([cell, listed]) => {
      const ids = listed.map(({ accountId }) => accountId)
      const rows = await readAccounts(withRetries(openCell(c.env, cell)), ids)
      return rows.map((stored) => {
        const { licenses, expired, locationsPerDay, storageBytes, usage, ...row } = stored
        const context = budgetContext(c, usage)
        const today = currentDay(row, context.now)
        const ended = expired.filter(({ day }) => day <= today)
        const used = row.used - ended.reduce((sum, { count }) => sum + count, 0)
        const messagesPerDay = parseMessageOverrides(row.messagesPerDay)
        const { maxUsers, requestsPerMinute, maxRetentionDays, maxZones } = row
        const limits = { maxUsers, requestsPerMinute, maxRetentionDays, maxZones }
        const budgets = { locationsPerDay, storageBytes, ...limits, messagesPerDay }
        const settings = {
          ...parseEmergencySettings(row.emergency),
          budgets,
          sandbox: parseSandbox(row.sandbox),
        }
        return presentOperatedAccount({ ...row, ...settings, cell, total: licenses, used }, context)
      })
    }),
  )
  const byId = new Map(found.flat().map((account) => [account.id, account]))
  return entries.flatMap(({ accountId }) => byId.get(accountId) ?? [])
}

/** `disabled`, which is older than `status`, still sets it. */
const changedStatus = (
  before: AccountStatus,
  { status, disabled }: { status: AccountStatus; disabled: boolean },
): AccountStatus => {
  if (status !== before || disabled === (before === 'disabled')) return status
  return disabled ? 'disabled' : 'active'
}

export const admin = new Hono<AppEnv>()
  .get('/accounts', operation(contract.listAccounts), (c) =>
    replyList(c, contract.listAccounts, c.req.valid('query'), {
      readPage: ([after = 0]) =>
        searchAccounts(c.env, { ...c.req.valid('query'), after: Number(after) }),
      toBody: async (entries) => ({ accounts: await readListed(c, entries) }),
    }),
  )
  .post('/accounts', operation(contract.createAccount), async (c) => {
    const { licenses, sandbox, ...given } = c.req.valid('json')
    refuseLinkInName(given.name)
    if (licenses === undefined && !sandbox)
      throw invalid({ pointer: '/licenses', detail: 'is required, except of a sandbox' })
    const id = await c.get('newId')('acc')
    const opening = { ...given, id, total: licenses ?? SANDBOX_LICENSES }
    const { account, sent, apiKey } = await (sandbox
      ? openSandbox(c, opening)
      : openAccount(c, opening))
    const body = { ...presentWrapped(account, await readBudgetContext(c, account, sent)), apiKey }
    return replyWithEtag(c, contract.createAccount, body, {
      version: account.version,
      location: `/admin/accounts/${id}`,
    })
  })
  .get('/accounts/:accountId', operation(contract.readOperatedAccount), async (c) => {
    const { account, sent } = await readRequested(c)
    const body = presentWrapped(account, await readBudgetContext(c, account, sent))
    return replyWithEtag(c, contract.readOperatedAccount, body, account)
  })
  .patch('/accounts/:accountId', operation(contract.patchOperatedAccount), async (c) => {
    const patch = c.req.valid('json')
    const { account, sent } = await editResource(c, {
      find: async () => {
        const { account, sent } = await readRequested(c)
        requireExisting(account)
        return { ...account, sent }
      },
      change: async ({ sent, ...before }) => {
        const editable = presentEditable(before, await readBudgetContext(c, before, sent))
        const changed = applyPatch(patch, editable, contract.replaceOperatedAccount)
        refuseLinkInName(changed.name, before.name)
        const { licenses: total, name, statusMessage, budgets } = changed
        const status = changedStatus(before.status, changed)
        return { total, name, status, statusMessage, budgets }
      },
      write: async ({ id }, change, versions) =>
        completeOutcome(await ledgerOf(c.env, id).editAccount(change, versions, writerOf(c))),
    })
    evictKeysOfAccount(account.id)
    await rereadBudgets(operatorContext(c, account))
    const body = presentWrapped(account, await readBudgetContext(c, account, sent))
    return replyWithEtag(c, contract.patchOperatedAccount, body, account)
  })
  .delete('/accounts/:accountId', operation(contract.deleteAccount), async (c) => {
    const { id, userName, cell } = await findRequested(c)
    const ledger = ledgerOf(c.env, id)
    const isErased = c.req.valid('query').now === 'true'
    if (isErased && fold(c.req.valid('json').userName ?? '') !== fold(userName))
      throw invalid({ pointer: '/userName', detail: 'must be the user name of the account' })
    const [versions, writer] = [c.get('ifMatch'), writerOf(c)]
    requireOk(
      await (isErased
        ? ledger.eraseAccount(versions, writer)
        : ledger.deleteAccount(versions, writer)),
    )
    evictKeysOfAccount(id)
    // Closes its streams.
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, { accountId: id, cell }))
    return reply(c, contract.deleteAccount, { success: true })
  })
  .post('/accounts/:accountId/undelete', operation(contract.undeleteAccount), async (c) => {
    const { id } = await findRequested(c)
    const { account, sent } = requireOk(
      completeOutcome(await ledgerOf(c.env, id).undeleteAccount(writerOf(c))),
    )
    evictKeysOfAccount(id)
    const body = presentWrapped(account, await readBudgetContext(c, account, sent))
    return replyWithEtag(c, contract.undeleteAccount, body, account)
  })
  .post('/accounts/:accountId/keep', operation(contract.keepAccount), async (c) => {
    const { id } = await findRequested(c)
    const { account, sent } = requireOk(
      completeOutcome(await ledgerOf(c.env, id).keepSandbox(writerOf(c))),
    )
    const body = presentWrapped(account, await readBudgetContext(c, account, sent))
    return replyWithEtag(c, contract.keepAccount, body, account)
  })
  .post('/accounts/:accountId/keys', operation(contract.createAccountKey), async (c) => {
    const { name = 'operator', scopes = ['admin'], ...chosen } = c.req.valid('json')
    requireFutureExpiry(chosen.expires, Date.now())
    const account = await findRequested(c)
    requireExisting(account)
    const made = await makeKey(c, account, { ...chosen, name, scopes })
    const headers = { Location: `/api/account/keys/${made.key.id}` }
    return reply(c, contract.createAccountKey, { success: true, ...made }, headers)
  })
  .route('/', recovery)
