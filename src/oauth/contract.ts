import * as z from 'zod'
import { SCOPES, SCOPES_BUT_INGEST } from '../domain/account/scope.ts'
import { define } from '../http/contract/contract.ts'
import { line, success } from '../http/contract/wire.ts'

const tag = 'Sessions'
const MAX_QUERY_LENGTH = 4096

const query = line(MAX_QUERY_LENGTH).min(1, 'must not be empty').meta({
  description:
    'The query of the address `/oauth/authorize` that the program has sent the browser to.',
  example: 'response_type=code&client_id=…&redirect_uri=…&code_challenge=…',
})

const scopes = z.array(z.enum(SCOPES, `must be one of: ${SCOPES.join(', ')}`))

export const readConsent = define({
  id: 'readConsent',
  purpose: 'self',
  tag,
  summary: 'Read what a program asks for',
  description:
    'Checks the request of a program for access by OAuth, and says who asks for what. Only for people who have signed in.',
  scope: SCOPES_BUT_INGEST,
  query: z.strictObject({ query }),
  reply: z
    .object({
      success,
      consent: z
        .object({
          name: z.string().meta({
            description: 'What the program calls itself. Nobody has checked it.',
            example: 'Field assistant',
          }),
          redirectHost: z.string().meta({
            description: 'The host that the answer is sent to.',
            example: 'agent.example.com',
          }),
          isLocal: z.boolean().meta({
            description: 'Whether that is a program on the computer of the browser.',
          }),
          scopes: scopes.meta({ description: 'What the program asks for.' }),
          allowedScopes: scopes.meta({
            description: 'What of it the user may do, and thus allow.',
          }),
        })
        .meta({ description: 'The request, as it is shown to the user.' }),
    })
    .meta({ id: 'ConsentReply' }),
  problems: ['invalid-authorization'],
})

export const decideConsent = define({
  id: 'decideConsent',
  purpose: 'self',
  ignoresStorage: true,
  tag,
  summary: 'Let a program act for the user, or refuse',
  description:
    'Only for people who have signed in. A program that is let in becomes a session of the user (`GET /api/Auth/Sessions`), which ends after 30 days without use, and after a year. It may do what is allowed here and what the user may do.',
  scope: SCOPES_BUT_INGEST,
  body: z.strictObject({
    query,
    scopes: scopes.max(SCOPES.length, 'has too many scopes').meta({
      description: 'What is allowed of what the program asks for; empty to refuse.',
      example: ['read'],
    }),
  }),
  reply: z
    .object({
      success,
      redirectTo: z.string().meta({
        description: 'Where the browser goes next: the program’s address, with a code or an error.',
        example: 'https://agent.example.com/callback?code=…',
      }),
    })
    .meta({ id: 'ConsentDecision' }),
  problems: ['invalid-authorization'],
})
