import type * as z from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import type { Operation } from '../http/contract/contract.ts'
import { replyHeaders, successHeaders } from './headers.ts'
import type { ContractedRoute } from './routes.ts'
import { namedReply } from './schemas/names.ts'

const otherFormats = ({ formats = {} }: Operation) =>
  Object.fromEntries(
    Object.entries(formats).map(([type, description]) => [
      type,
      { schema: { type: type.endsWith('json') ? 'object' : 'string', description } as const },
    ]),
  )

const success = (
  route: ContractedRoute,
  status: 200 | 201,
  schema: z.ZodType,
): ZodOpenApiResponseObject => ({
  description: status === 201 ? 'Created.' : 'OK.',
  headers: replyHeaders(successHeaders(route, status)),
  content: {
    ...(!route.contract.download && {
      'application/json': { schema: namedReply(route.contract, schema) },
    }),
    ...(status === (route.contract.status ?? 200) && otherFormats(route.contract)),
  },
})

/** The successful replies of an operation by status. */
export const successesOf = (route: ContractedRoute): ZodOpenApiResponsesObject => {
  const { upgrade, status = 200, reply, alternateReply, etag } = route.contract
  if (upgrade)
    return {
      101: {
        description: 'The stream starts.',
        headers: replyHeaders(['X-Request-Id', 'Perigee-Version']),
      },
    }
  return {
    [status]: success(route, status, reply),
    ...(alternateReply && {
      [alternateReply.status]: success(route, alternateReply.status, alternateReply.reply),
    }),
    ...(etag &&
      route.method === 'GET' && {
        304: {
          description: 'The resource still has the state that `If-None-Match` names.',
          headers: replyHeaders(['X-Request-Id', 'Perigee-Version', 'ETag']),
        },
      }),
  }
}
