import { Hono } from 'hono'
import { noticeTime } from '../domain/webhook.ts'
import { feedOf } from '../feed/stub.ts'
import { MAX_OPEN_BODY_BYTES, readBytes } from '../http/body.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { Problem } from '../http/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import type { Receipt } from '../notify/provider.ts'
import { providerNamed } from '../notify/providers.ts'

/** A provider that knows one address for all accounts calls this one; its receipts name the account themselves. */
const ALL = 'all'

const readReceipt = async (c: Context, name: string): Promise<Receipt> => {
  const provider = providerNamed(name)
  if (!provider?.readReceipt) throw new Problem('not-found')
  const body = new TextDecoder().decode(await readBytes(c.req.raw, MAX_OPEN_BODY_BYTES))
  const receipt = await provider
    .readReceipt(c.env, { url: c.req.url, headers: c.req.raw.headers, body }, Date.now())
    .catch(() => null)
  if (!receipt) throw new Problem('invalid-signature')
  return receipt
}

/** Receipts of providers. Body and signature are each provider's own, so there is no contract for what comes in. */
export const hooks = new Hono<AppEnv>().post('/:provider/:accountId', async (c) => {
  const receipt = await readReceipt(c, c.req.param('provider'))
  const asked = c.req.param('accountId')
  const accountId = receipt.accountId ?? asked
  if (asked !== ALL && asked !== accountId) throw new Problem('not-found')
  const books =
    noticeTime(receipt.key) === null ? ledgerOf(c.env, accountId) : feedOf(c.env, accountId)
  const outcome = await books.receipt(receipt)
  if (!outcome.ok) throw new Problem(outcome.refusal)
  return c.json({ success: true as const })
})
