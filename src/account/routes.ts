import { Hono } from 'hono'
import { evictKeysOfAccount } from '../auth/keyStatus.ts'
import { retryTransient } from '../db/transient.ts'
import type { Account } from '../domain/account/account.ts'
import { allows } from '../domain/account/scope.ts'
import { sameJson } from '../domain/text/json.ts'
import { iso } from '../domain/time/iso.ts'
import { budgetsPerLicense } from '../env.ts'
import { applyPatch, changesMember } from '../http/body/patch.ts'
import { readCurrentUsage } from '../http/budget/meters.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid } from '../http/contract/problem.ts'
import { refuseLinkInName } from '../http/contract/validation.ts'
import { readCursor } from '../http/paging/page.ts'
import { replyPage, replyWithEtag } from '../http/reply/reply.ts'
import { editResource } from '../http/resource/editResource.ts'
import { writerOf } from '../http/writer.ts'
import { refuseAgent } from '../keys/boundKeys.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { requestContext } from '../serviceContext.ts'
import { listSupport } from '../support/store.ts'
import * as contract from './contract.ts'
import { completeOutcome, readLedgerAccount } from './ledgerAccount.ts'
import { type BudgetContext, presentAccount } from './present.ts'

const ownLedger = (c: Context) => ledgerOf(c.env, c.get('principal').accountId)

const readOwn = (c: Context) => readLedgerAccount(c.env, c.get('principal').accountId)

const readBudgetContext = async (c: Context): Promise<BudgetContext> => ({
  usage: await readCurrentUsage(requestContext(c)),
  support: await listSupport(c.get('db'), c.get('principal').accountId, Date.now()),
  perLicense: budgetsPerLicense(c.env),
  now: Date.now(),
})

const presentWrapped = (account: Account, context: BudgetContext) => ({
  success: true as const,
  account: presentAccount(account, context),
})

/** Names and addresses of people, who need not be users. */
const maySeeContacts = (c: Context): boolean => {
  const { groupId, scopes } = c.get('principal')
  return groupId === null && allows(scopes, 'write')
}

const requireAllowedRetention = ({ budgets, retentionDays }: Account, wanted: number): void => {
  const { maxRetentionDays: max } = budgets
  if (max !== null && wanted > max && wanted !== retentionDays)
    throw invalid({ pointer: '/retentionDays', detail: `must be at most ${max} in this account` })
}

export const account = new Hono<AppEnv>()
  .get('/', operation(contract.readAccount), async (c) => {
    const [{ account, sent, lastDrill }, context] = await Promise.all([
      readOwn(c),
      readBudgetContext(c),
    ])
    const shown = maySeeContacts(c) ? account : { ...account, emergencyContacts: [] }
    const body = presentWrapped(shown, { ...context, sent, lastDrill })
    return replyWithEtag(c, contract.readAccount, body, account)
  })
  .get('/licenses/log', operation(contract.readLicenseLog), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [before = null] = (await readCursor(c, cursor)) ?? []
    const from = before === null ? null : Number(before)
    const page = await retryTransient(() => ownLedger(c).readLicenseLog(from, limit))
    const entries = page.lines.map((line) => ({ ...line, time: iso(line.time) }))
    const last = page.next === null ? null : [page.next]
    return replyPage(c, contract.readLicenseLog, { entries }, last)
  })
  .patch('/', operation(contract.patchAccount), async (c) => {
    const patch = c.req.valid('json')
    const context = await readBudgetContext(c)
    const { account, sent, lastDrill } = await editResource(c, {
      find: async () => {
        const { account, sent, lastDrill } = await readOwn(c)
        return { ...account, sent, lastDrill }
      },
      change: ({ sent, lastDrill, ...before }) => {
        const shown = presentAccount(before, { ...context, sent, lastDrill })
        const changed = applyPatch(patch, shown, contract.replaceAccount)
        refuseLinkInName(changed.name, before.name)
        requireAllowedRetention(before, changed.retentionDays)
        if (!sameJson(changed.emergencyContacts, shown.emergencyContacts))
          refuseAgent(c.get('principal'))
        // What is shown may be the default, which stays one until the caller sets something.
        const isSet = changesMember(patch, 'escalation')
        const escalation = isSet ? (changed.escalation ?? ('off' as const)) : before.escalation
        return { ...changed, escalation }
      },
      write: async (_, change, versions) =>
        completeOutcome(await ownLedger(c).editAccount(change, versions, writerOf(c))),
    })
    if (changesMember(patch, 'supportMayWrite')) evictKeysOfAccount(account.id)
    const body = presentWrapped(account, { ...context, sent, lastDrill })
    return replyWithEtag(c, contract.patchAccount, body, account)
  })
