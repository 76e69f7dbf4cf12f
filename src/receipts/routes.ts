import { Hono } from 'hono'
import { MAX_OPEN_BODY_BYTES, readBytes } from '../http/body/body.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { logFailure } from '../log.ts'
import type { PressedKeyRequest, ReceiptRequest } from '../notify/provider.ts'
import { providerAt } from '../notify/providers.ts'
import { answerKey, NOT_RECORDED } from './calls.ts'
import * as contract from './contract.ts'

/** In place of an account's id, for providers with one URL for all accounts. */
const ALL = 'all'

/** What `read` makes of the request; a wrong signature is refused. */
const readSigned = async <T>(
  c: Context,
  read: ((request: ReceiptRequest) => Promise<T | null>) | undefined,
): Promise<T> => {
  if (!read) throw new Problem('route-not-found')
  const body = new TextDecoder().decode(await readBytes(c.req.raw, MAX_OPEN_BODY_BYTES))
  const request = { url: c.req.url, headers: c.req.raw.headers, body }
  const found = await read(request).catch(() => null)
  if (!found) throw new Problem('invalid-signature')
  return found
}

/** The reply to a key, whatever fails: an error would end the call. */
const takeKey = async (c: Context, accountId: string, { pressed, receipt }: PressedKeyRequest) => {
  try {
    return await answerKey(c.env, accountId, pressed, () =>
      ledgerOf(c.env, accountId).applyReceipt(receipt),
    )
  } catch (error) {
    logFailure('call-key-failed', error, { account: accountId, message: pressed.key })
    return NOT_RECORDED
  }
}

export const receipts = new Hono<AppEnv>()
  .post('/:provider/:accountId', async (c) => {
    const provider = providerAt(c.req.param('provider'))
    const { readReceipt } = provider ?? {}
    const receipt = await readSigned(
      c,
      readReceipt && ((request) => readReceipt(c.env, request, Date.now())),
    )
    const inPath = c.req.param('accountId')
    const accountId = receipt.accountId ?? inPath
    if (inPath !== ALL && inPath !== accountId) throw new Problem('account-not-found')
    await ledgerOf(c.env, accountId).applyReceipt(receipt)
    return reply(c, contract.receiveReceipt, { success: true })
  })
  // A key that was pressed in a call. The reply says how the call goes on.
  .post('/:provider/:accountId/digits', async (c) => {
    const { calls } = providerAt(c.req.param('provider')) ?? {}
    const given = await readSigned(c, calls && ((request) => calls.readKey(c.env, request)))
    const spoken = await takeKey(c, c.req.param('accountId'), given)
    const xml = calls?.presentReply(c.env, spoken, given.receipt) ?? ''
    return c.body(xml, 200, {
      'Content-Type': 'text/xml; charset=utf-8',
      'Cache-Control': 'no-store',
    })
  })
