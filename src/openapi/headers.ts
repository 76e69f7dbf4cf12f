import * as z from 'zod'
import type { ZodOpenApiResponseObject } from 'zod-openapi'
import { isPaged, type Operation } from '../http/contract/contract.ts'
import { VERSION_HEADER } from '../http/version/version.ts'
import { NEWEST_VERSION, VERSION_DATES } from '../http/version/versions.ts'
import type { ContractedRoute } from './routes.ts'

const requestHeader = (name: string, description: string, schema: z.ZodType = z.string()) =>
  schema.optional().meta({ description, param: { in: 'header', name, id: name } })

const ifMatch = requestHeader(
  'If-Match',
  'One or several `ETag`s of the resource, or `*`. The edit is made only if the resource still has one of these versions; otherwise the reply is 412.',
  z.string().meta({
    pattern: '^ *(\\*|(W/)?"[^",]*"( *, *(W/)?"[^",]*")*) *$',
    example: '"3.Rm9vYmFyQmF6UXV4"',
  }),
)
const ifNoneMatch = requestHeader(
  'If-None-Match',
  'The `ETag` of your copy. The reply is 304 without a body if the resource has not changed.',
)
const idempotencyKey = requestHeader(
  'Idempotency-Key',
  'Makes retries safe: for 24 hours a request with the same key gets the first reply again, with `Idempotent-Replayed: true`, and nothing is done twice.',
  z.string().regex(/^[\x21-\x7e]{1,128}$/),
)
const apiVersion = requestHeader(
  VERSION_HEADER,
  'The version of the API that the request is written for. Without it, the version that the API key pins counts, and without a key the newest one. Any other value is a 400.',
  z.enum(VERSION_DATES).meta({ example: NEWEST_VERSION }),
)
const requestId = requestHeader(
  'X-Request-Id',
  'Your own id for the request, for the reply and the log: 1 to 64 letters, digits, dots, underscores and hyphens. Any other is replaced by a generated one.',
)

/** The headers that an operation takes. */
export const requestHeaders = (
  method: string,
  { etag, ifMatch: takesIfMatch, idempotent }: Operation,
): z.ZodType[] => [
  ...(etag && method === 'GET' ? [ifNoneMatch] : []),
  ...(takesIfMatch ? [ifMatch] : []),
  ...(idempotent ? [idempotencyKey] : []),
  apiVersion,
  requestId,
]

const header = (id: string, description: string, example: string, schema: z.ZodType = z.string()) =>
  schema.meta({ description, example, header: { id } })

const REPLY_HEADERS = {
  'X-Request-Id': header(
    'X-Request-Id',
    'The id of the request: yours, or a generated one.',
    '5c0f1c0e-8a3b-4a53-9d53-7a8b1f6f0c11',
  ),
  [VERSION_HEADER]: header(
    VERSION_HEADER,
    'The version of the API that the reply is of.',
    NEWEST_VERSION,
  ),
  Deprecation: header(
    'Deprecation',
    'Since when the operation, or a member of the request, is deprecated: `@` and seconds since 1970 (RFC 9745).',
    '@1794960000',
    z.string().optional(),
  ),
  Sunset: header(
    'Sunset',
    'From when on what is deprecated may be gone (RFC 8594).',
    'Thu, 18 Nov 2027 00:00:00 GMT',
    z.string().optional(),
  ),
  'RateLimit-Policy': header(
    'RateLimit-Policy',
    'The limits: `q` requests in `w` seconds.',
    '"account";q=6000;w=60, "token";q=10;w=60, "sign-in";q=30;w=60',
  ),
  RateLimit: header(
    'RateLimit',
    'The requests left (`r`) until the limit resets in `t` seconds, as counted at this location.',
    '"account";r=5999;t=60',
  ),
  ETag: header(
    'ETag',
    'Identifies this state of the resource, for `If-Match` and `If-None-Match`.',
    '"3.Rm9vYmFyQmF6UXV4"',
  ),
  Location: header(
    'Location',
    'The path of the created resource.',
    '/api/account/keys/key_1jn7wz3h4q8v2n5t7r6m0p',
  ),
  Link: header(
    'Link',
    'The next page, if there is one.',
    '</api/account/keys?cursor=WyJrZXki.MTIzNDU2>; rel="next"',
    z.string().optional(),
  ),
  'Idempotent-Replayed': header(
    'Idempotent-Replayed',
    '`true` if the reply is a replay of the first one.',
    'true',
    z.literal('true').optional(),
  ),
  'WWW-Authenticate': header(
    'WWW-Authenticate',
    'The authentication scheme and, as `code`, why the request was not authenticated.',
    'Bearer error="invalid_token", error_description="The bearer token has expired.", code="token-expired"',
  ),
  'Retry-After': header('Retry-After', 'Seconds to wait before the next attempt.', '30'),
}

export type ReplyHeader = keyof typeof REPLY_HEADERS

const optionalHeader = (name: ReplyHeader): z.ZodType => {
  const { header: _, ...meta } = REPLY_HEADERS[name].meta() ?? {}
  return REPLY_HEADERS[name].optional().meta(meta)
}

/** `sometimes` are headers that not every reply with the same status has. */
export const replyHeaders = (
  always: ReplyHeader[],
  sometimes: ReplyHeader[] = [],
): NonNullable<ZodOpenApiResponseObject['headers']> =>
  z.object({
    ...Object.fromEntries(always.map((name) => [name, REPLY_HEADERS[name]])),
    ...Object.fromEntries(sometimes.map((name) => [name, optionalHeader(name)])),
  })

/** The headers of a success. The second kind is a page: it has no ETag and is not replayed. */
export const successHeaders = (
  { method, path, contract }: ContractedRoute,
  status: number,
): ReplyHeader[] => {
  const { scope, etag, idempotent } = contract
  const isMarked = !!(contract.deprecated ?? contract.deprecatedMembers)
  const isFirst = status === (contract.status ?? 200)
  const names: (ReplyHeader | false | undefined)[] = [
    'X-Request-Id',
    VERSION_HEADER,
    isMarked && 'Deprecation',
    isMarked && 'Sunset',
    path.startsWith('/api/') && 'RateLimit-Policy',
    scope !== 'open' && scope !== 'operator' && 'RateLimit',
    isFirst && etag && 'ETag',
    status === 201 && 'Location',
    isPaged(contract) && method === 'GET' && 'Link',
    isFirst && idempotent && 'Idempotent-Replayed',
  ]
  return names.filter((name) => !!name)
}
