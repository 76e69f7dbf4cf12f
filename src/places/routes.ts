import { Hono } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { reply } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { loadDescriber } from './store.ts'

export const places = new Hono<AppEnv>().get('/', operation(contract.describePlace), async (c) => {
  const describe = await loadDescriber(c.env.ASSETS, c.get('db'), c.get('principal'))
  const place = describe(c.req.valid('query'))?.words ?? null
  return reply(c, contract.describePlace, { success: true, place })
})
