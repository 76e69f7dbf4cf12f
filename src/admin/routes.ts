import { Hono } from 'hono'
import { forgetKeysOfAccount } from '../auth/keyStatus.ts'
import { issueApiKey } from '../auth/secret.ts'
import { openCell, openDirectory } from '../db/open.ts'
import { type Account, numberAt } from '../domain/account.ts'
import { fold } from '../domain/fold.ts'
import { available, currentDay } from '../domain/license.ts'
import { cellNumbers } from '../env.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { retryOnConflict } from '../http/editResource.ts'
import { expectedVersions, replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { makeCursor, readCursor, replyPage } from '../http/page.ts'
import { applyPatch } from '../http/patch.ts'
import { invalid, Problem, refusalProblem } from '../http/problem.ts'
import { iso } from '../http/wire.ts'
import { refuseReached } from '../keys/contract.ts'
import { presentKey } from '../keys/present.ts'
import { insertKey } from '../keys/store.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { type CellPosition, reconcileAccount, reconcileCell } from './reconcile.ts'
import {
  confirmInDirectory,
  enterDirectory,
  findInDirectory,
  highestNumber,
  listDirectory,
  readAccounts,
} from './store.ts'

const present = (account: Omit<Account, 'number' | 'day'>) => {
  const {
    id,
    userName,
    name,
    timeZone,
    total,
    used,
    disabled,
    cell,
    retentionDays,
    creation,
    lastModified,
  } = account
  const licenses = { total, used, available: available({ total, used }) }
  return {
    id,
    userName,
    name,
    timeZone,
    licenses,
    disabled,
    cell,
    retentionDays,
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}

/** The number alone is what the operator edits, so in a patch `licenses` is that number. */
const editable = (account: Account) => ({ ...present(account), licenses: account.total })

const listedAccount = async (c: Context, id: string): Promise<Account> => {
  if (!(await findInDirectory(openDirectory(c.env), id))) throw new Problem('not-found')
  const outcome = await ledgerOf(c.env, id).account()
  if (!outcome.ok) throw new Problem('not-found')
  return outcome.account
}

const makeKey = async (
  c: Context,
  account: { id: string; cell: number },
  name: string,
  scopes: ('ingest' | 'read' | 'write' | 'admin')[],
  expires: number | null,
) => {
  const id = await c.get('newId')('key')
  const { apiKey, hash } = await issueApiKey(id)
  const key = await insertKey(
    openCell(c.env, account.cell),
    account.id,
    { id, name, scopes, hash, userId: null, expires },
    Date.now(),
  )
  if (!key) throw new Error('a key that is bound to nobody was refused')
  c.executionCtx.waitUntil(pokeIfSubscribed(c.env, { accountId: account.id, cell: account.cell }))
  return { key: presentKey(key), apiKey }
}

export const admin = new Hono<AppEnv>()
  .get('/accounts', operation(contract.listAccounts), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [after = 0] = (await readCursor(c, cursor)) ?? []
    const entries = await listDirectory(openDirectory(c.env), Number(after), limit + 1)
    const page = entries.slice(0, limit)
    const cells = Map.groupBy(page, ({ cell }) => cell)
    const now = Date.now()
    const found = await Promise.all(
      [...cells].map(async ([cell, listed]) => {
        const rows = await readAccounts(
          openCell(c.env, cell),
          listed.map(({ accountId }) => accountId),
        )
        return rows.map(({ licenses, ended, ...row }) => {
          const today = currentDay(row, now)
          const used =
            row.used -
            ended.filter(({ day }) => day <= today).reduce((sum, { count }) => sum + count, 0)
          return present({ ...row, cell, total: licenses, used })
        })
      }),
    )
    const byId = new Map(found.flat().map((account) => [account.id, account]))
    const accounts = page.flatMap(({ accountId }) => byId.get(accountId) ?? [])
    return replyPage(
      c,
      'accounts',
      accounts,
      entries.length > limit ? [page.at(-1)?.number ?? 0] : null,
    )
  })
  .post('/accounts', operation(contract.createAccount), async (c) => {
    const { userName, name, licenses, timeZone, cell } = c.req.valid('json')
    const bound = cellNumbers(c.env)
    if (cell !== undefined && !bound.includes(cell))
      throw invalid({ pointer: '/cell', detail: 'is not bound to this service' })
    const directory = openDirectory(c.env)
    const id = await c.get('newId')('acc')
    const now = Date.now()
    const taken = await Promise.all(bound.map((number) => highestNumber(openCell(c.env, number))))
    const leastNumber = Math.max(numberAt(now), ...taken.map((number) => number + 1))
    const entry = await enterDirectory(
      directory,
      id,
      fold(userName),
      cell === undefined ? bound : [cell],
      leastNumber,
      now,
    )
    if (!entry) throw new Problem('user-name-taken')
    const opening = {
      id,
      number: entry.number,
      cell: entry.cell,
      userName,
      name,
      timeZone,
      total: licenses,
    }
    const outcome = await ledgerOf(c.env, id).open(opening)
    if (!outcome.ok) throw refusalProblem(outcome)
    const { apiKey } = await makeKey(c, outcome.account, 'first', ['admin'], null)
    await confirmInDirectory(directory, id)
    return replyWithEtag(
      c,
      { success: true, account: present(outcome.account), apiKey },
      outcome.account.version,
      201,
      {
        Location: `/admin/accounts/${id}`,
      },
    )
  })
  .get('/accounts/:accountId', operation(contract.readOperatedAccount), async (c) => {
    const account = await listedAccount(c, c.req.param('accountId'))
    return replyWithEtag(c, { success: true, account: present(account) }, account.version)
  })
  .patch('/accounts/:accountId', operation(contract.patchOperatedAccount), async (c) => {
    const changed = await retryOnConflict(c, async () => {
      const before = await listedAccount(c, c.req.param('accountId'))
      const versions = expectedVersions(c, before.version)
      const {
        licenses: total,
        name,
        disabled,
      } = applyPatch(c.req.valid('json'), editable(before), contract.replaceOperatedAccount)
      const outcome = await ledgerOf(c.env, before.id).change({ total, name, disabled }, versions)
      if (outcome.ok) return outcome.account
      if (outcome.refusal === 'precondition-failed') return outcome.refusal
      throw refusalProblem(outcome)
    })
    forgetKeysOfAccount(changed.id)
    return replyWithEtag(c, { success: true, account: present(changed) }, changed.version)
  })
  .delete('/accounts/:accountId', operation(contract.deleteAccount), async (c) => {
    const account = await listedAccount(c, c.req.param('accountId'))
    const outcome = await ledgerOf(c.env, account.id).erase(c.get('ifMatch'))
    if (!outcome.ok) throw refusalProblem(outcome)
    forgetKeysOfAccount(account.id)
    return c.json({ success: true as const })
  })
  .post('/accounts/:accountId/keys', operation(contract.createAccountKey), async (c) => {
    const { name = 'operator', scopes = ['admin'], expires } = c.req.valid('json')
    refuseReached(expires, Date.now())
    const account = await listedAccount(c, c.req.param('accountId'))
    const made = await makeKey(c, account, name, scopes, expires)
    return c.json({ success: true as const, ...made }, 201, {
      Location: `/api/account/keys/${made.key.id}`,
    })
  })
  .post('/accounts/:accountId/restore', operation(contract.restoreLedger), async (c) => {
    const { time, undo = time } = c.req.valid('json')
    const ledger = ledgerOf(c.env, c.req.param('accountId'))
    const outcome = await ledger.scheduleRestore(undo ?? 0)
    if (!outcome.ok) throw refusalProblem(outcome)
    // The first call ends the object, and its stub with it; a later one finds the next object there.
    const isBack = () =>
      ledgerOf(c.env, c.req.param('accountId'))
        .restart(outcome.handover)
        .catch(() => false)
    if (!(await isBack()) && !(await isBack()) && !(await isBack()))
      throw new Problem('unavailable')
    return c.json({ success: true as const, undo: outcome.undo })
  })
  .post('/accounts/:accountId/reconcile', operation(contract.reconcileAccount), async (c) => {
    const { cursor, restored } = c.req.valid('json')
    const [after = 0] = (await readCursor(c, cursor, undefined, '/cursor')) ?? []
    const outcome = await reconcileAccount(c.env, c.req.param('accountId'), Number(after), restored)
    if (typeof outcome === 'string') throw new Problem(outcome)
    const { checked, mended, next } = outcome
    return c.json({
      success: true as const,
      checked,
      mended,
      nextCursor: next === null ? null : await makeCursor(c, [next]),
    })
  })
  .post('/cells/:cell/reconcile', operation(contract.reconcileCell), async (c) => {
    const { cursor, restored } = c.req.valid('json')
    const cell = cellNumbers(c.env).find((number) => String(number) === c.req.param('cell'))
    if (cell === undefined) throw new Problem('not-found')
    const from = ((await readCursor(c, cursor, undefined, '/cursor')) ?? [0, '', 0]) as CellPosition
    const { accounts, checked, mended, unknown, next } = await reconcileCell(
      c.env,
      cell,
      from,
      restored,
    )
    return c.json({
      success: true as const,
      accounts,
      checked,
      mended,
      unknown,
      nextCursor: next && (await makeCursor(c, next)),
    })
  })
