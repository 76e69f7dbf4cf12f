import type * as z from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import type { Operation } from '../http/contract.ts'
import { replyHeaders, successHeaders } from './headers.ts'

const otherFormats = ({ formats = {} }: Operation) =>
  Object.fromEntries(
    Object.entries(formats).map(([type, description]) => [
      type,
      { schema: { type: type.endsWith('json') ? 'object' : 'string', description } as const },
    ]),
  )

const success = (
  method: string,
  path: string,
  contract: Operation,
  status: 200 | 201,
  answer: z.ZodType,
): ZodOpenApiResponseObject => ({
  description: status === 201 ? 'Created.' : 'Done.',
  headers: replyHeaders(...successHeaders(method, path, contract, status)),
  content: {
    'application/json': { schema: answer },
    ...(status === (contract.status ?? 200) && otherFormats(contract)),
  },
})

/** What the operation answers when all is well. */
export const successesOf = (
  method: string,
  path: string,
  contract: Operation,
): ZodOpenApiResponsesObject => {
  const { status = 200, reply, alternateReply, etag } = contract
  if (contract.upgrade)
    return { 101: { description: 'The stream begins.', headers: replyHeaders('X-Request-Id') } }
  return {
    [status]: success(method, path, contract, status, reply),
    ...(alternateReply && {
      [alternateReply.status]: success(
        method,
        path,
        contract,
        alternateReply.status,
        alternateReply.reply,
      ),
    }),
    ...(etag &&
      method === 'GET' && {
        304: {
          description: 'What `If-None-Match` names is still the state.',
          headers: replyHeaders('X-Request-Id', 'ETag'),
        },
      }),
  }
}
