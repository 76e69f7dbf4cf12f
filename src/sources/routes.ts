import { Hono } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { reply } from '../http/reply.ts'
import * as contract from './contract.ts'
import { decodePush, replyTo } from './decode.ts'
import { toPush } from './pastedPush.ts'
import { presentItem } from './present.ts'

export const sources = new Hono<AppEnv>().post(
  '/decode',
  operation(contract.decodePayload),
  async (c) => {
    const pasted = c.req.valid('json')
    const push = toPush(pasted, Date.now())
    const { items, failures } = await decodePush(pasted.provider, push)
    return reply(c, contract.decodePayload, {
      success: true,
      items: items.map(presentItem),
      failures,
      reply: replyTo(pasted.provider, push),
    })
  },
)
