import * as z from 'zod'
import type {
  ZodOpenApiExampleObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { type Operation, problemsOf } from '../http/contract.ts'
import { PROBLEMS, type ProblemCode } from '../http/problem.ts'
import { type ReplyHeader, replyHeaders, withOptionalHeaders } from './headers.ts'

const CODES = Object.keys(PROBLEMS) as ProblemCode[]

const problem = z
  .object({
    success: z.literal(false),
    error: z.string().meta({ description: 'The same sentence as `detail`.' }),
    type: z.string().meta({
      format: 'uri-reference',
      description: 'A page that explains the problem and what to do about it.',
    }),
    title: z.string(),
    status: z.int().meta({ description: 'The status of the reply.' }),
    detail: z.string().meta({ description: 'What is wrong, as a sentence for people.' }),
    code: z.enum(CODES).meta({ description: 'What is wrong, as a code for programs.' }),
    instance: z.string().meta({ format: 'uri-reference', description: 'The path of the request.' }),
    requestId: z.string().meta({ description: 'The same as `X-Request-Id`.' }),
    errors: z
      .array(
        z.object({
          pointer: z.string().meta({
            description: 'A JSON Pointer into the body, or `#/query/…`, `#/header/…`, `#/path/…`.',
          }),
          detail: z
            .string()
            .meta({ description: 'What is wrong with the value, or what is allowed.' }),
        }),
      )
      .optional()
      .meta({ description: 'The values that are not valid, if the problem is about values.' }),
    availableAt: z.iso.datetime({ precision: 3 }).nullable().optional().meta({
      description:
        'Only with `no-license-available`: when the next license becomes free as devices expire, or null.',
    }),
    resetAt: z.iso.datetime({ precision: 3 }).optional().meta({
      description: 'Only with `daily-limit-reached`: when the limit resets.',
    }),
  })
  .meta({ id: 'Problem', description: 'Every error reply has this shape (RFC 9457).' })

const EXAMPLE_MEMBERS: Partial<Record<ProblemCode, object>> = {
  'invalid-request': { errors: [{ pointer: '/name', detail: 'must not be empty' }] },
  'malformed-body': { errors: [{ pointer: '', detail: 'must be well-formed JSON' }] },
  'invalid-cursor': {
    errors: [
      { pointer: '#/query/cursor', detail: 'must be a `nextCursor` of this list, unchanged' },
    ],
  },
  'invalid-patch': {
    errors: [{ pointer: '/0', detail: 'must point to an existing place in the resource' }],
  },
  'patch-test-failed': { errors: [{ pointer: '/0', detail: 'does not match the resource' }] },
  'no-license-available': { availableAt: '2027-01-01T00:00:00.000Z' },
  'daily-limit-reached': { resetAt: '2027-01-01T00:00:00.000Z' },
}

const example = (code: ProblemCode): ZodOpenApiExampleObject => {
  const { status, title, detail } = PROBLEMS[code]
  const value = {
    success: false,
    error: detail,
    type: `/problems/${code}`,
    title,
    status,
    detail,
    code,
    instance: '/api/account',
    requestId: '5c0f1c0e-8a3b-4a53-9d53-7a8b1f6f0c11',
    ...EXAMPLE_MEMBERS[code],
  }
  return { id: code, summary: title, value }
}

const EXAMPLES = Object.fromEntries(CODES.map((code) => [code, example(code)])) as Record<
  ProblemCode,
  ZodOpenApiExampleObject
>

const RETRYABLE: readonly ProblemCode[] = [
  'request-in-progress',
  'too-many-requests',
  'unavailable',
]

/** The problems that always come with a header. */
const SENT_WITH: readonly [ReplyHeader, (code: ProblemCode) => boolean][] = [
  ['WWW-Authenticate', (code) => PROBLEMS[code].status === 401],
  ['RateLimit', (code) => code === 'too-many-requests'],
  ['Retry-After', (code) => RETRYABLE.includes(code)],
]

/** A header is required only if every problem with the status has it. */
const headersOf = (codes: readonly ProblemCode[]) => {
  const always = SENT_WITH.filter(([, isSentWith]) => codes.every(isSentWith))
  const sometimes = SENT_WITH.filter(
    ([, isSentWith]) => codes.some(isSentWith) && !codes.every(isSentWith),
  )
  return withOptionalHeaders(
    replyHeaders('X-Request-Id', ...always.map(([name]) => name)),
    ...sometimes.map(([name]) => name),
  )
}

const reply = (codes: readonly ProblemCode[]): ZodOpenApiResponseObject => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].detail}`).join('\n\n'),
  headers: headersOf(codes),
  content: {
    'application/problem+json': {
      schema: problem,
      examples: Object.fromEntries(codes.map((code) => [code, EXAMPLES[code]])),
    },
  },
})

const SINGLE_REPLIES = Object.fromEntries(
  CODES.map((code) => [code, { id: code, ...reply([code]) }]),
) as Record<ProblemCode, ZodOpenApiResponseObject>

/** The error replies of an operation by status; those with one problem are shared components. */
export const failuresOf = (contract: Operation): ZodOpenApiResponsesObject => {
  const byStatus = Map.groupBy(problemsOf(contract), (code) => PROBLEMS[code].status)
  const replies = [...byStatus].map(([status, [first, ...others]]) => [
    status,
    first && others.length === 0 ? SINGLE_REPLIES[first] : reply(byStatus.get(status) ?? []),
  ])
  return Object.fromEntries(replies)
}
