import { Hono } from 'hono'
import { presentSandbox } from '../account/present.ts'
import { isSessionId } from '../domain/account/session.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { presentKey } from '../keys/present.ts'
import { findKey } from '../keys/store.ts'
import { findUser } from '../users/store.ts'
import * as contract from './contract.ts'
import { presentCallerUser } from './present.ts'
import { readCallerAccount } from './store.ts'

export const me = new Hono<AppEnv>().get('/', operation(contract.readMe), async (c) => {
  const { accountId, userId, keyId, scopes } = c.get('principal')
  const db = c.get('db')
  const [account, user, key] = await Promise.all([
    readCallerAccount(db, accountId),
    userId === null ? null : findUser(db, accountId, userId),
    isSessionId(keyId) ? null : findKey(db, accountId, keyId, Date.now()),
  ])
  if (!account) throw new Problem('account-not-found')
  return reply(c, contract.readMe, {
    success: true,
    account: { ...account, sandbox: presentSandbox(account.sandbox) },
    user: user && presentCallerUser(user),
    key: key && presentKey(key),
    scopes,
  })
})
