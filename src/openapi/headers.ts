import * as z from 'zod'
import type { ZodOpenApiResponseObject } from 'zod-openapi'
import { isPaged, type Operation } from '../http/contract.ts'

const requestHeader = (name: string, description: string, schema: z.ZodType = z.string()) =>
  schema.optional().meta({ description, param: { in: 'header', name, id: name } })

const ifMatch = requestHeader(
  'If-Match',
  'An `ETag` of the resource, or several, or `*`: the edit is made only while one of the versions holds, else 412.',
)
const ifNoneMatch = requestHeader(
  'If-None-Match',
  'An `ETag` that you have: 304 without a body while it is still the same.',
)
const idempotencyKey = requestHeader(
  'Idempotency-Key',
  'Makes a repeat safe: for 24 hours the first answer is given again, with `Idempotent-Replayed: true`, and nothing is done twice.',
  z.string().regex(/^[\x21-\x7e]{1,128}$/),
)
const requestId = requestHeader(
  'X-Request-Id',
  'Your own id for the request. It comes back in the reply and stands in the log.',
  z.string().regex(/^[A-Za-z0-9._-]{1,64}$/),
)

/** The headers that an operation reads. */
export const requestHeaders = (
  method: string,
  { etag, ifMatch: conditional, idempotent }: Operation,
): z.ZodType[] => [
  ...(etag && method === 'GET' ? [ifNoneMatch] : []),
  ...(conditional ? [ifMatch] : []),
  ...(idempotent ? [idempotencyKey] : []),
  requestId,
]

const header = (id: string, description: string, example: string, schema: z.ZodType = z.string()) =>
  schema.meta({ description, example, header: { id } })

const REPLY = {
  'X-Request-Id': header(
    'X-Request-Id',
    'The id of the request: yours, or a new one.',
    '5c0f1c0e-8a3b-4a53-9d53-7a8b1f6f0c11',
  ),
  'RateLimit-Policy': header(
    'RateLimit-Policy',
    'The limits: `q` requests in `w` seconds.',
    '"account";q=6000;w=60, "token";q=10;w=60',
  ),
  RateLimit: header(
    'RateLimit',
    'What is left of the limit (`r`) and for how many seconds (`t`), as this place sees it.',
    '"account";r=5999;t=60',
  ),
  ETag: header(
    'ETag',
    'Names this very state of the resource, for `If-Match` and `If-None-Match`.',
    '"3.Rm9vYmFyQmF6UXV4"',
  ),
  Location: header(
    'Location',
    'Where the new resource is.',
    '/api/account/keys/key_1jn7wz3h4q8v2n5t7r6m0p',
  ),
  Link: header(
    'Link',
    'The next page, where there is one.',
    '</api/account/keys?cursor=WyJrZXki.MTIzNDU2>; rel="next"',
    z.string().optional(),
  ),
  'Idempotent-Replayed': header(
    'Idempotent-Replayed',
    '`true` on an answer that was given before.',
    'true',
    z.literal('true').optional(),
  ),
  'WWW-Authenticate': header(
    'WWW-Authenticate',
    'That a bearer token is wanted, and what was wrong with the one given.',
    'Bearer error="invalid_token"',
  ),
  'Retry-After': header('Retry-After', 'In how many seconds to try again.', '30'),
}

export type ReplyHeader = keyof typeof REPLY

export const replyHeaders = (
  ...names: ReplyHeader[]
): NonNullable<ZodOpenApiResponseObject['headers']> =>
  z.object(Object.fromEntries(names.map((name) => [name, REPLY[name]])))

const everywhere = (path: string, { scope }: Operation): ReplyHeader[] => [
  'X-Request-Id',
  ...(path.startsWith('/api/') ? (['RateLimit-Policy'] as const) : []),
  ...(scope !== 'open' && scope !== 'operator' ? (['RateLimit'] as const) : []),
]

/** The headers of a success. Where one path answers two kinds of body, the other kind is a page: it has no tag and is not kept. */
export const successHeaders = (
  method: string,
  path: string,
  contract: Operation,
  status: number,
): ReplyHeader[] => [
  ...everywhere(path, contract),
  ...(contract.etag && status === (contract.status ?? 200) ? (['ETag'] as const) : []),
  ...(status === 201 ? (['Location'] as const) : []),
  ...(isPaged(contract) && method === 'GET' ? (['Link'] as const) : []),
  ...(contract.idempotent && status === (contract.status ?? 200)
    ? (['Idempotent-Replayed'] as const)
    : []),
]
