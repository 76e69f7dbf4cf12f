import { Hono } from 'hono'
import { presentSandbox } from '../account/present.ts'
import { LINK_LIFETIME_MS, writeLink } from '../auth/passwordLink.ts'
import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { recordAudit } from '../db/queries/audit.ts'
import type { Account } from '../domain/account/account.ts'
import { SANDBOX_LICENSES } from '../domain/sandbox/sandbox.ts'
import { publicOrigin } from '../env.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { refuseLinkInName } from '../http/contract/validation.ts'
import { reply } from '../http/reply/reply.ts'
import { writerOf } from '../http/writer.ts'
import { refuseAgent } from '../keys/boundKeys.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { logFailure } from '../log.ts'
import { readCallerAccount } from '../me/store.ts'
import { linkUrl } from '../passwordLinks/sendLink.ts'
import { findLinkedUser, recordInvitation } from '../passwordLinks/store.ts'
import { operatorContext, requestContext } from '../serviceContext.ts'
import { createUser } from '../users/edit.ts'
import { findUser } from '../users/store.ts'
import * as contract from './contract.ts'
import { openSandbox } from './open.ts'
import { presentOwn } from './present.ts'
import { findSandboxes, readSandboxes } from './store.ts'

const MAX_NAME_START = 40
const MAX_NAME = 100

/** Makes whoever opens the sandbox its administrator, and returns the address to set a password. */
const inviteOpener = async (c: Context, account: Account): Promise<string | null> => {
  const { accountId, userId } = c.get('principal')
  const opener = userId === null ? null : await findUser(c.get('db'), accountId, userId)
  const origin = publicOrigin(c.env)
  if (!opener || origin === null) return null
  const { db, cell, now, newId } = operatorContext(c, account)
  const { name, email, country, timeZone, phone } = opener
  const record = {
    ...{ name, email, country, timeZone, phone },
    notify: { email: true, sms: true, push: false, voice: false },
    ...{ description: '', message: '', disabled: false, disabledMessage: '', tags: {} },
    privileges: ['admin' as const],
    ...{ groupId: null, deviceId: null, adminDevices: null, from: null, expires: null },
  }
  const id = await newId('usr')
  const user = { accountId: account.id, id, record, password: null, now: now() }
  requireOk(await createUser(db, user))
  const linked = await findLinkedUser(db, id)
  if (!linked) throw new Error('the user of a sandbox is missing')
  await recordInvitation(db, linked, now())
  const expires = now() + LINK_LIFETIME_MS.invitation
  const link = await writeLink(c.env, { kind: 'invitation', cell, userId: id, expires }, linked)
  return linkUrl(origin, link)
}

export const accountSandbox = new Hono<AppEnv>()
  .get('/', operation(contract.listSandboxes), async (c) => {
    const { accountId } = c.get('principal')
    const entries = await findSandboxes(withRetries(openDirectory(c.env)), accountId)
    const byCell = Map.groupBy(entries, ({ cell }) => cell)
    const found = await Promise.all(
      [...byCell].map(([cell, listed]) =>
        readSandboxes(
          withRetries(openCell(c.env, cell)),
          listed.map(({ id }) => id),
        ),
      ),
    )
    const sandboxes = found.flat().sort((a, b) => a.creation - b.creation)
    return reply(c, contract.listSandboxes, {
      success: true,
      sandboxes: sandboxes.map(presentOwn),
    })
  })
  .post('/', operation(contract.openSandbox), async (c) => {
    refuseAgent(c.get('principal'))
    const context = requestContext(c)
    const { accountId } = context
    const caller = await readCallerAccount(c.get('db'), accountId)
    if (!caller) throw new Problem('account-not-found')
    if (caller.sandbox) throw new Problem('sandbox-of-sandbox')
    const { name = `Sandbox of ${caller.name}`.slice(0, MAX_NAME) } = c.req.valid('json')
    refuseLinkInName(name)
    const id = await context.newId('acc')
    const userName = `${caller.userName.slice(0, MAX_NAME_START)}-sandbox-${id.slice(-6)}`
    const { account, apiKey } = await openSandbox(c, {
      ...{ id, userName, name, timeZone: caller.timeZone },
      total: SANDBOX_LICENSES,
      sandboxOf: accountId,
    })
    // The account exists, and its key is shown only now: with it the user can be created.
    const signInUrl = await inviteOpener(c, account).catch((error: unknown) => {
      logFailure('sandbox-invitation-failed', error, { account: id })
      return null
    })
    const now = context.now()
    const resource = { type: 'account', id }
    await recordAudit(context.db, { accountId, now, action: 'sandbox.opened', resource })
    const sandbox = presentOwn({ ...account, sandboxErasesAt: account.sandbox?.erasesAt ?? null })
    const body = { success: true as const, sandbox, apiKey, signInUrl }
    return reply(c, contract.openSandbox, body, { Location: '/api/account/sandbox' })
  })
  .post('/keep', operation(contract.keepSandbox), async (c) => {
    const { accountId } = c.get('principal')
    const { account } = requireOk(await ledgerOf(c.env, accountId).extendSandbox(writerOf(c)))
    return reply(c, contract.keepSandbox, {
      success: true,
      sandbox: presentSandbox(account.sandbox),
    })
  })
