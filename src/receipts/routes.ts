import { Hono } from 'hono'
import { MAX_OPEN_BODY_BYTES, readBytes } from '../http/body/body.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import type { Receipt } from '../notify/provider.ts'
import { providerNamed } from '../notify/providers.ts'
import * as contract from './contract.ts'

/** In place of an account's id, for providers with one URL for all accounts. */
const ALL = 'all'

const readReceipt = async (c: Context, name: string): Promise<Receipt> => {
  const provider = providerNamed(name)
  if (!provider?.readReceipt) throw new Problem('route-not-found')
  const body = new TextDecoder().decode(await readBytes(c.req.raw, MAX_OPEN_BODY_BYTES))
  const receipt = await provider
    .readReceipt(c.env, { url: c.req.url, headers: c.req.raw.headers, body }, Date.now())
    .catch(() => null)
  if (!receipt) throw new Problem('invalid-signature')
  return receipt
}

export const receipts = new Hono<AppEnv>().post('/:provider/:accountId', async (c) => {
  const receipt = await readReceipt(c, c.req.param('provider'))
  const inPath = c.req.param('accountId')
  const accountId = receipt.accountId ?? inPath
  if (inPath !== ALL && inPath !== accountId) throw new Problem('account-not-found')
  await ledgerOf(c.env, accountId).applyReceipt(receipt)
  return reply(c, contract.receiveReceipt, { success: true })
})
