import * as z from 'zod'
import { sandbox } from '../account/contract.ts'
import { MAX_SANDBOX_DAYS, MAX_SANDBOXES, SANDBOX_DAYS } from '../domain/sandbox/sandbox.ts'
import { define } from '../http/contract/contract.ts'
import { id, name, success, time } from '../http/contract/wire.ts'
import { apiKey } from '../keys/contract.ts'

const own = z
  .object({
    id: id('acc').meta({ description: 'The sandbox’s id.' }),
    userName: z.string().meta({
      description: 'The user name of the sandbox, for its API key and for signing in.',
      example: 'demo-sandbox-4k2vd',
    }),
    name: z.string().meta({ description: 'Its name.', example: 'Sandbox of Demo Shipping' }),
    creation: time,
    erasesAt: time.nullable().meta({
      description: 'When it is erased; null once the operator keeps it.',
    }),
  })
  .meta({ id: 'OwnSandbox', description: 'A sandbox of the account.' })

const common = { tag: 'Account', scope: 'admin', wholeAccount: true } as const

export const listSandboxes = define({
  id: 'listSandboxes',
  ...common,
  summary: 'List the sandboxes of the account',
  description: `Those that it has opened and that are not erased, at most ${MAX_SANDBOXES}.`,
  reply: z.object({ success, sandboxes: z.array(own).meta({ description: 'The sandboxes.' }) }),
})

export const openSandbox = define({
  id: 'openSandbox',
  ...common,
  status: 201,
  idempotent: true,
  summary: 'Open a sandbox',
  description: `Opens an account to try things in. It has simulated devices that move, and nothing of it reaches anybody: no provider gets its messages and commands. It is erased after ${SANDBOX_DAYS} days unless somebody keeps it, at most ${MAX_SANDBOX_DAYS}. An account has at most ${MAX_SANDBOXES}; a sandbox has none. The API key has the scope \`admin\`. Key and address are shown only once. A program that acts for a user by OAuth opens none (403): the key would outlast its access.`,
  optionalBody: true,
  body: z.strictObject({
    name: name
      .optional()
      .meta({ description: 'The name; by default that of the account, with “Sandbox of”.' }),
  }),
  reply: z.object({
    success,
    sandbox: own,
    apiKey,
    signInUrl: z.string().nullable().meta({
      description:
        'With it whoever opens the sandbox sets a password, to sign in there with the same e-mail address; valid for 7 days. Null for a key without a user, and where the service does not know its own address.',
      example: 'https://perigee.example/password#invitation.0.usr_…',
    }),
  }),
  problems: ['sandbox-of-sandbox', 'sandbox-limit-reached', 'user-name-taken', 'cells-full'],
  secrets: ['apiKey', 'signInUrl'],
})

export const keepSandbox = define({
  id: 'keepSandbox',
  ...common,
  summary: 'Keep this sandbox for longer',
  description: `For an administrator of the sandbox itself: it is erased ${SANDBOX_DAYS} days from now, unless it is kept again, and at the latest ${MAX_SANDBOX_DAYS} days after its creation. Only the operator keeps one for longer.`,
  ignoresStorage: true,
  reply: z.object({ success, sandbox }),
  problems: ['not-a-sandbox', 'sandbox-end-reached'],
})
