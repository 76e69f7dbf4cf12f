import { Hono } from 'hono'
import { SUBPROTOCOL } from '../domain/event/stream.ts'
import type { Env } from '../env.ts'
import { feedOf, STREAM_REQUEST_HEADER, type StreamRequest } from '../feed/stub.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { admitMessage, isUpgrade, subprotocols } from '../http/socket.ts'
import { openStream } from './contract.ts'
import { awaitToken } from './pendingSocket.ts'

const connectToFeed = async (env: Env, request: StreamRequest): Promise<WebSocket> => {
  const { webSocket } = await feedOf(env, request.accountId).fetch(
    new Request('https://feed/stream', {
      headers: { Upgrade: 'websocket', [STREAM_REQUEST_HEADER]: JSON.stringify(request) },
    }),
  )
  if (!webSocket) throw new Problem('unavailable')
  return webSocket
}

export const stream = new Hono<AppEnv>().get('/', operation(openStream), async (c) => {
  if (!isUpgrade(c)) throw invalid({ pointer: '#/header/Upgrade', detail: 'must be websocket' })
  const { after = null, ...filter } = c.req.valid('query')
  const principal = c.get('principal')
  const socket = principal
    ? await connectToFeed(c.env, { ...principal, claims: c.get('claims'), filter, after })
    : awaitToken(async (token) => {
        const admitted = await admitMessage(c, token, 'read')
        if (typeof admitted === 'string') return admitted
        const { principal, claims } = admitted
        return connectToFeed(c.env, { ...principal, claims, filter, after })
      })
  const headers = subprotocols(c).includes(SUBPROTOCOL)
    ? { 'Sec-WebSocket-Protocol': SUBPROTOCOL }
    : undefined
  return new Response(null, { status: 101, webSocket: socket, ...(headers && { headers }) })
})
