import * as z from 'zod'
import type {
  ZodOpenApiExampleObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { type Operation, problemsOf, statusIn, TOKEN_PROBLEMS } from '../http/contract/contract.ts'
import { PROBLEMS, Problem, type ProblemCode, problemDocument } from '../http/contract/problem.ts'
import { type ReplyHeader, replyHeaders } from './headers.ts'

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
      description:
        'Only with `daily-limit-reached`, `message-budget-reached` and `daily-locations-reached`: when the limit resets.',
    }),
    alertId: z.string().optional().meta({
      description:
        'Only with `device-expired`: the alert that was raised for an emergency in the report nevertheless.',
    }),
    deviceId: z.string().optional().meta({
      description:
        'Only with `identifier-taken`: the device that has the identifier, if the caller can see it.',
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
  'identifier-taken': {
    deviceId: 'dev_1jn7wz3h4q8v2n5t7r6m0p',
    errors: [{ pointer: '/identifier', detail: 'is used by the device “Gull 2”' }],
  },
  'no-license-available': { availableAt: '2027-01-01T00:00:00.000Z' },
  'daily-limit-reached': { resetAt: '2027-01-01T00:00:00.000Z' },
  'message-budget-reached': { resetAt: '2027-01-01T00:00:00.000Z' },
  'daily-locations-reached': { resetAt: '2027-01-01T00:00:00.000Z' },
}

const example = (code: ProblemCode, status: number): ZodOpenApiExampleObject => {
  const { text } = problemDocument(
    new Problem(code, { status, members: { ...EXAMPLE_MEMBERS[code] } }),
    { path: '/api/account', requestId: '5c0f1c0e-8a3b-4a53-9d53-7a8b1f6f0c11' },
  )
  const id = status === PROBLEMS[code].status ? code : `${code}-${status}`
  return { id, summary: PROBLEMS[code].title, value: JSON.parse(text) }
}

/** One object for each example: a component that two objects define is an error. */
const examples = new Map<string, ZodOpenApiExampleObject>()
const exampleWith = (code: ProblemCode, status: number): ZodOpenApiExampleObject => {
  const made = examples.get(`${code} ${status}`) ?? example(code, status)
  examples.set(`${code} ${status}`, made)
  return made
}

const RETRYABLE: readonly ProblemCode[] = [
  'request-in-progress',
  'too-many-requests',
  'daily-locations-reached',
  'cells-full',
  'links-unavailable',
  'unavailable',
]

/** A header is required only if every problem with the status has it. */
const headersOf = (codes: readonly ProblemCode[], status: number) => {
  const counts: [ReplyHeader, number][] = [
    ['WWW-Authenticate', status === 401 ? codes.length : 0],
    ['RateLimit', codes.filter((code) => code === 'too-many-requests').length],
    ['Retry-After', codes.filter((code) => RETRYABLE.includes(code)).length],
  ]
  const always = counts.filter(([, count]) => count === codes.length)
  const sometimes = counts.filter(([, count]) => count > 0 && count < codes.length)
  return replyHeaders(
    ['X-Request-Id', 'Perigee-Version', ...always.map(([name]) => name)],
    sometimes.map(([name]) => name),
  )
}

const reply = (codes: readonly ProblemCode[], status: number): ZodOpenApiResponseObject => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].detail}`).join('\n\n'),
  headers: headersOf(codes, status),
  content: {
    'application/problem+json': {
      schema: problem,
      examples: Object.fromEntries(codes.map((code) => [code, exampleWith(code, status)])),
    },
  },
})

/** Replies that many operations have are components: those with one problem, and of the token. */
const SHARED_REPLIES = new Map(
  [...CODES.map((code) => [code]), [...TOKEN_PROBLEMS]].map((codes) => {
    const [first = 'internal'] = codes
    const id = codes.length === 1 ? first : 'unauthorized'
    const { status } = PROBLEMS[first]
    return [`${status} ${codes}`, { id, ...reply(codes, status) }]
  }),
)

/** The error replies of an operation by status. */
export const failuresOf = (contract: Operation): ZodOpenApiResponsesObject => {
  const byStatus = Map.groupBy(problemsOf(contract), (code) => statusIn(contract, code))
  const replies = [...byStatus].map(([status, codes]) => [
    status,
    SHARED_REPLIES.get(`${status} ${codes}`) ?? reply(codes, status),
  ])
  return Object.fromEntries(replies)
}
