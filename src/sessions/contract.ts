import * as z from 'zod'
import { SCOPES, SCOPES_BUT_INGEST } from '../domain/account/scope.ts'
import { define } from '../http/contract/contract.ts'
import { done, id, line, success, time } from '../http/contract/wire.ts'

const tag = 'Sessions'

export const accountName = line(64)
  .min(1, 'must not be empty')
  .meta({ description: 'The user name of the account, ignoring case.', example: 'demo' })
export const emailAddress = line(254)
  .min(1, 'must not be empty')
  .meta({ description: 'The user’s e-mail address, ignoring case.', example: 'ana@example.com' })

const tokenReply = z
  .object({
    success,
    token: z.string().meta({
      description: 'A JWT. Send it as `Authorization: Bearer <token>`.',
      example: 'eyJhbGciOiJIUzI1NiIs…',
    }),
    expires: time.meta({ description: 'When the token stops working.' }),
  })
  .meta({ id: 'SessionTokenReply' })

export const signIn = define({
  id: 'signIn',
  tag,
  summary: 'Sign in with a password',
  description:
    'Starts a session of a user. The token has the user’s privileges as scopes and sees the user’s group, like a key that is bound to the user. The reply sets the session cookie, with which `POST /api/Auth/Refresh` gets further tokens for up to 30 days. At most 30 attempts a minute for each address. After 10 wrong passwords for a user, or 100 for an account, further attempts wait for up to a minute or 10 seconds, after a few more from each address; not so in a browser in which the user has signed in before, which a second cookie shows.',
  scope: 'open',
  body: z.strictObject({
    account: accountName,
    email: emailAddress,
    password: line(256)
      .min(1, 'must not be empty')
      .meta({ description: 'The user’s password.', example: 'correct horse battery' }),
  }),
  reply: tokenReply,
  problems: ['wrong-credentials', 'account-disabled', 'user-disabled', 'too-many-requests'],
})

export const refresh = define({
  id: 'refresh',
  tag,
  summary: 'Get a new token for the session',
  description:
    'Replaces the session cookie. The one before the last gets the same successor for 60 seconds, for two tabs or a lost reply; any later use of an old cookie ends the session.',
  scope: 'open',
  session: true,
  reply: tokenReply,
  problems: ['account-disabled', 'user-disabled'],
})

export const signOut = define({
  id: 'signOut',
  tag,
  summary: 'Sign out',
  description: 'Ends the session and removes its cookie. Its tokens stop within 30 seconds.',
  scope: 'open',
  session: true,
  optionalBody: true,
  body: z.strictObject({
    everywhere: z
      .boolean('must be true or false')
      .default(false)
      .meta({ description: 'Whether to end all sessions of the user, not just this one.' }),
  }),
  reply: done,
})

const session = z
  .object({
    id: id('ses').meta({ description: 'The session’s id.' }),
    current: z.boolean().meta({ description: 'Whether the token of this request belongs to it.' }),
    userAgent: z.string().meta({
      description: 'The browser, as it named itself at the sign-in; empty for an agent.',
      example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    }),
    agent: z
      .object({
        name: z.string().meta({
          description: 'What the program calls itself. Nobody has checked it.',
          example: 'Field assistant',
        }),
        scopes: z
          .array(z.enum(SCOPES))
          .meta({ description: 'What it may do, as far as the user may do it too.' }),
      })
      .nullable()
      .meta({
        description: 'The program that the user has let act for them by OAuth; null for a browser.',
      }),
    creation: time.meta({ description: 'When the user signed in, or let the program in.' }),
    lastUsed: time.meta({ description: 'When it was last refreshed.' }),
    expires: time.meta({ description: 'When it ends unless it is refreshed.' }),
  })
  .meta({ id: 'Session' })

export const listSessions = define({
  id: 'listSessions',
  purpose: 'self',
  tag,
  summary: 'List sessions',
  description:
    'Where the user of the token is signed in, latest refresh first: at most 50. Empty for a token of an API key without a user.',
  scope: SCOPES_BUT_INGEST,
  reply: z
    .object({
      success,
      sessions: z.array(session).meta({ description: 'The sessions, latest refresh first.' }),
    })
    .meta({ id: 'SessionList' }),
})

export const endSession = define({
  id: 'endSession',
  purpose: 'self',
  tag,
  summary: 'End a session',
  description:
    'Signs the user out there. A user can end own sessions: by a session, or by a key or an agent with `write`; an agent can always end its own. The scope `admin` without a group ends any of the account. Its tokens stop within 30 seconds.',
  scope: SCOPES_BUT_INGEST,
  reply: done,
  problems: ['session-not-found'],
})
