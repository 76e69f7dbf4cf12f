import { Hono } from 'hono'
import { findDevice } from '../devices/store.ts'
import { currentDay, endsOf, hasEnded } from '../domain/account/license.ts'
import { waitForReceiver } from '../http/admission/loadShedding.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply } from '../http/reply/reply.ts'
import { requestContext } from '../serviceContext.ts'
import { findSource } from '../sources/store.ts'
import * as contract from './contract.ts'
import { presentCommand } from './present.ts'
import { sendByNetwork, sendBySms } from './send.ts'
import { findCommand, findSourceOf, listCommands, setChannel } from './store.ts'

const requireDevice = (c: Context) =>
  requireInPath(c, 'deviceId', (id) => findDevice(c.get('db'), c.get('principal'), id, Date.now()))

const requireCommand = async (c: Context, deviceKey: number, id: string) => {
  const row = await findCommand(c.get('db'), c.get('principal').accountId, deviceKey, id)
  if (!row) throw new Problem('command-not-found')
  return presentCommand(row)
}

export const commands = new Hono<AppEnv>()
  .post('/:deviceId/sendCommand', operation(contract.sendCommand), async (c) => {
    const { command, format, sms } = c.req.valid('json')
    const { device, account } = await requireDevice(c)
    if (hasEnded(endsOf(device.limits), currentDay(account, Date.now())))
      throw new Problem('device-expired')
    const id = await c.get('newId')('cmd')
    const given = { device, format, command }
    const context = requestContext(c)
    const result = sms
      ? await sendBySms(context, id, given)
      : await sendByNetwork(context, id, given, (wait) => waitForReceiver(c, wait))
    const body = {
      success: true as const,
      result,
      command: await requireCommand(c, device.key, id),
    }
    return reply(c, contract.sendCommand, body)
  })
  .get('/:deviceId/commandChannel', operation(contract.readCommandChannel), async (c) => {
    const { device } = await requireDevice(c)
    const sourceId = await findSourceOf(c.get('db'), device.key)
    return reply(c, contract.readCommandChannel, { success: true, sourceId })
  })
  .put('/:deviceId/commandChannel', operation(contract.setCommandChannel), async (c) => {
    const { sourceId } = c.req.valid('json')
    const { device } = await requireDevice(c)
    const { accountId } = c.get('principal')
    if (sourceId !== null && !(await findSource(c.get('db'), accountId, sourceId)))
      throw new Problem('source-not-found')
    await setChannel(c.get('db'), { accountId, device, sourceId, now: Date.now() })
    return reply(c, contract.setCommandChannel, { success: true, sourceId })
  })
  .get('/:deviceId/commands', operation(contract.listCommands), async (c) => {
    const { device } = await requireDevice(c)
    return replyList(c, contract.listCommands, c.req.valid('query'), {
      read: ([at = Number.MAX_SAFE_INTEGER, id = ''], limit) =>
        listCommands(c.get('db'), device.key, [Number(at), String(id)], limit),
      positionOf: ({ creation, id }) => [creation, id],
      toBody: (rows) => ({ commands: rows.map(presentCommand) }),
    })
  })
  .get('/:deviceId/commands/:commandId', operation(contract.readCommand), async (c) => {
    const { device } = await requireDevice(c)
    const command = await requireCommand(c, device.key, c.req.param('commandId'))
    return reply(c, contract.readCommand, { success: true, command })
  })
