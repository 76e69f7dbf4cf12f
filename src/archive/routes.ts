import { Hono } from 'hono'
import { readLedgerAccount } from '../account/ledgerAccount.ts'
import { presentWrapped, readBudgetContext } from '../admin/operated.ts'
import { readRequested } from '../admin/requested.ts'
import type { Account } from '../domain/account/account.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { replyAlternate, replyStream, replyWithEtag } from '../http/reply/reply.ts'
import { operatorContext, requestContext, type ServiceContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { type ExportSpan, exportAccount } from './exportAccount.ts'
import { importAccount } from './importAccount.ts'

const replyArchive = async (
  c: Context,
  context: ServiceContext,
  account: Account,
  span: ExportSpan,
) => {
  const stream = await exportAccount(c, context, account, span)
  const name = `${account.userName.replaceAll(/[^\w.-]/g, '_')}.tar.gz`
  return replyStream(c, stream, {
    'Content-Type': 'application/gzip',
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}

export const accountExport = new Hono<AppEnv>().post(
  '/',
  operation(contract.exportAccount),
  async (c) => {
    const { account } = await readLedgerAccount(c.env, c.get('principal').accountId)
    return replyArchive(c, requestContext(c), account, c.req.valid('query'))
  },
)

const ARCHIVE_TYPES = /^application\/(x-)?gzip$|^application\/octet-stream$/i

/** `Content-Encoding` would say that the tar file is what was sent. */
const requireArchive = (c: Context): void => {
  const type = c.req.header('Content-Type') ?? 'application/gzip'
  if (!ARCHIVE_TYPES.test(type) || c.req.header('Content-Encoding') !== undefined)
    throw new Problem('unsupported-media-type', {
      detail: 'The body must be an archive, application/gzip, without a content encoding.',
    })
}

export const operatorArchives = new Hono<AppEnv>()
  .post('/import', operation(contract.importAccount), async (c) => {
    requireArchive(c)
    const { more, ...options } = c.req.valid('query')
    const result = await importAccount(c, { ...options, more: more === 'true' })
    if (!result.isComplete) {
      const { session, files } = result
      return replyAlternate(c, contract.importAccount, { success: true, session, files })
    }
    const { account, sent } = await readLedgerAccount(c.env, result.accountId)
    const shown = presentWrapped(account, await readBudgetContext(c, account, sent))
    const body = { ...shown, apiKey: result.apiKey }
    return replyWithEtag(c, contract.importAccount, body, {
      version: account.version,
      location: `/admin/accounts/${account.id}`,
    })
  })
  .post('/:accountId/export', operation(contract.exportOperatedAccount), async (c) => {
    const { account } = await readRequested(c)
    return replyArchive(c, operatorContext(c, account), account, c.req.valid('query'))
  })
