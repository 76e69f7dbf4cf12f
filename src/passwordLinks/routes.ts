import { Hono } from 'hono'
import { writeBrowserCookie } from '../auth/browserCookie.ts'
import { evictKeysOfUser } from '../auth/keyStatus.ts'
import { hashPassword } from '../auth/password.ts'
import { isLinkValid, parseLink } from '../auth/passwordLink.ts'
import { findInCells } from '../db/movedCell.ts'
import { openCell, openDirectory, withJoining, withWriter } from '../db/open.ts'
import { PASSWORD_MS } from '../domain/account/requestCost.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
import { iso } from '../domain/time/iso.ts'
import { cellBinding } from '../env.ts'
import { runCostlyWork } from '../http/admission/costlyWork.ts'
import { countSignIn } from '../http/admission/rateLimit.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, signInProblem } from '../http/contract/problem.ts'
import { setBrowserCookie } from '../http/cookie.ts'
import { reply } from '../http/reply/reply.ts'
import { writerAs, writerOf } from '../http/writer.ts'
import { refuseAgent } from '../keys/boundKeys.ts'
import { log, logFailure } from '../log.ts'
import { findAccount } from '../tokens/store.ts'
import * as contract from './contract.ts'
import { sendLink } from './sendLink.ts'
import { findLinkedUser, findUserByEmail, recordInvitation, replacePassword } from './store.ts'

export const invitations = new Hono<AppEnv>().post(
  '/:userId/invite',
  operation(contract.inviteUser),
  async (c) => {
    refuseAgent(c.get('principal'))
    const { accountId, cell } = c.get('principal')
    const user = await findLinkedUser(c.get('db'), c.req.param('userId'))
    if (user?.accountId !== accountId) throw new Problem('user-not-found')
    const noticeId = await c.get('newId')('ntc')
    const now = Date.now()
    const link = { kind: 'invitation', user, cell, noticeId, now, writer: writerOf(c) } as const
    const { expires } = await sendLink(c.env, link)
    await recordInvitation(c.get('db'), user, now)
    return reply(c, contract.inviteUser, { success: true, expires: iso(expires) })
  },
)

/** Only a user who was invited and has set a password gets a link. */
const sendReset = async (
  c: Context,
  { account, email }: { account: string; email: string },
  now: number,
): Promise<void> => {
  const known = await findAccount(withJoining(openDirectory(c.env)), fold(account))
  if (!known) return
  const { accountId, cell } = known
  const db = withJoining(openCell(c.env, cell))
  const user = await findUserByEmail(db, accountId, emailKey(email.trim()) ?? '')
  if (!user || user.password === null || user.disabled || user.isAccountDisabled) return
  const noticeId = await c.get('newId')('ntc')
  const writer = writerAs(c, { type: 'system', id: 'password-reset', name: null })
  await sendLink(c.env, { kind: 'reset', user, cell, noticeId, now, writer }).catch((error) => {
    if (!(error instanceof Problem) || error.code !== 'too-many-requests') throw error
    log('warn', { event: 'reset-refused', account: accountId })
  })
}

/** The reply has been sent, so nobody learns of a failure but the log. */
const reportFailure = (error: unknown): void => {
  const isRefused = error instanceof Problem && error.code !== 'links-unavailable'
  if (!isRefused) logFailure('reset-failed', error)
}

const invalidLink = () =>
  new Problem('invalid-link', {
    errors: [{ pointer: '/link', detail: 'must be a link that is neither used nor expired' }],
  })

/** The user of a link that is valid now. */
const requireLink = async (c: Context, link: string, now: number) => {
  const parsed = parseLink(link)
  if (!parsed || !cellBinding(c.env, parsed.cell)) throw invalidLink()
  const located = await findInCells(c.env, parsed.cell, (cellDb) =>
    findLinkedUser(withJoining(cellDb), parsed.userId).then((user) => user ?? null),
  )
  if (!located) throw invalidLink()
  const { found: user, db } = located
  if (!(await isLinkValid(c.env, parsed, user, now))) throw invalidLink()
  if (user.isAccountDisabled) throw signInProblem('account-disabled')
  if (user.disabled) throw signInProblem('user-disabled', user.disabledMessage)
  return { db, user }
}

export const passwords = new Hono<AppEnv>()
  .post('/Reset', operation(contract.requestReset), async (c) => {
    const now = Date.now()
    // Beyond the limit nothing is done, but the reply stays the same.
    const isCounted = await countSignIn(c, now).then(
      () => true,
      () => false,
    )
    if (isCounted)
      c.executionCtx.waitUntil(sendReset(c, c.req.valid('json'), now).catch(reportFailure))
    return reply(c, contract.requestReset, { success: true })
  })
  .post('/Password', operation(contract.setPassword), async (c) => {
    const { link, password } = c.req.valid('json')
    const now = Date.now()
    await countSignIn(c, now)
    const { db, user } = await requireLink(c, link, now)
    const hash = await runCostlyWork(c, PASSWORD_MS, () => hashPassword(c.env, password))
    const writer = writerAs(c, { type: 'user', id: user.id, name: user.name })
    if (!(await replacePassword(withWriter(db, writer), user, hash, now))) throw invalidLink()
    evictKeysOfUser(user.id)
    const { accountUserName: account, email } = user
    // Whoever guesses passwords of the user does not make this browser wait.
    const name = { userNameKey: fold(account), emailKey: user.emailKey }
    setBrowserCookie(c, await writeBrowserCookie(c.env, name))
    return reply(c, contract.setPassword, { success: true, account, email })
  })
