import { Hono } from 'hono'
import type { Account } from '../domain/account.ts'
import { iso } from '../domain/iso.ts'
import { available } from '../domain/license.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { retryOnConflict } from '../http/editResource.ts'
import { expectedVersions, replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { applyPatch } from '../http/patch.ts'
import { Problem, refusalProblem } from '../http/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'

const present = ({
  id,
  userName,
  name,
  timeZone,
  total,
  used,
  retentionDays,
  creation,
  lastModified,
}: Account) => ({
  id,
  userName,
  name,
  timeZone,
  licenses: { total, used, available: available({ total, used }) },
  retentionDays,
  creation: iso(creation),
  lastModified: iso(lastModified),
})

const current = async (c: Context): Promise<Account> => {
  const outcome = await ledgerOf(c.env, c.get('principal').accountId).account()
  if (!outcome.ok) throw new Problem('unauthorized')
  return outcome.account
}

export const account = new Hono<AppEnv>()
  .get('/', operation(contract.readAccount), async (c) => {
    const account = await current(c)
    return replyWithEtag(c, { success: true, account: present(account) }, account.version)
  })
  .get('/licenses/log', operation(contract.readLicenseLog), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [before = null] = (await readCursor(c, cursor)) ?? []
    const { accountId } = c.get('principal')
    const { lines, next } = await ledgerOf(c.env, accountId).licenseLog(
      before === null ? null : Number(before),
      limit,
    )
    return replyPage(
      c,
      'entries',
      lines.map((line) => ({ ...line, time: iso(line.time) })),
      next === null ? null : [next],
    )
  })
  .patch('/', operation(contract.patchAccount), async (c) => {
    const changed = await retryOnConflict(c, async () => {
      const before = await current(c)
      const versions = expectedVersions(c, before.version)
      const change = applyPatch(c.req.valid('json'), present(before), contract.replaceAccount)
      const outcome = await ledgerOf(c.env, before.id).change(change, versions)
      if (outcome.ok) return outcome.account
      if (outcome.refusal === 'precondition-failed') return outcome.refusal
      throw refusalProblem(outcome)
    })
    return replyWithEtag(c, { success: true, account: present(changed) }, changed.version)
  })
