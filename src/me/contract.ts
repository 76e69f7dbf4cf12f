import * as z from 'zod'
import { ABOUT as ACCOUNT_ABOUT, sandbox } from '../account/contract.ts'
import { SCOPES, SCOPES_BUT_INGEST } from '../domain/account/scope.ts'
import { PRIVILEGES } from '../domain/account/user.ts'
import { ACCOUNT_STATUSES } from '../domain/admin/status.ts'
import { define } from '../http/contract/contract.ts'
import { id, success, time } from '../http/contract/wire.ts'
import { key } from '../keys/contract.ts'
import { notify } from '../users/contract.ts'
import { ABOUT } from '../users/forms.ts'

const account = z
  .object({
    id: id('acc').meta({ description: 'The account’s id.' }),
    userName: z.string().meta({ description: 'The account’s user name.', example: 'demo' }),
    name: z.string().meta({ description: 'The account’s name.', example: 'Demo Shipping' }),
    timeZone: z.string().meta({
      description: 'The IANA time zone in which the account’s days begin.',
      example: 'Europe/Lisbon',
    }),
    status: z.enum(ACCOUNT_STATUSES).meta({ description: ACCOUNT_ABOUT.status }),
    statusMessage: z.string().meta({ description: ACCOUNT_ABOUT.statusMessage, example: '' }),
    sandbox,
  })
  .meta({ id: 'CallerAccount', description: 'The account of the token.' })

const user = z
  .object({
    id: id('usr').meta({ description: 'The user’s id.' }),
    name: z.string().meta({ description: ABOUT.name, example: 'Ana Sousa' }),
    email: z.string().meta({ description: ABOUT.email, example: 'ana@example.com' }),
    timeZone: z.string().meta({ description: ABOUT.timeZone, example: 'Europe/Lisbon' }),
    message: z.string().meta({ description: ABOUT.message }),
    notify,
    privileges: z.array(z.enum(PRIVILEGES)).meta({ description: ABOUT.privileges }),
    group: z.string().nullable().meta({
      description: 'The name of the one group whose devices the user may see; null for all.',
      example: 'North fleet',
    }),
    groupId: id('grp').nullable().meta({ description: 'The id of `group`.' }),
    lastLogin: time.nullable().meta({ description: 'When the user last signed in.' }),
  })
  .meta({ id: 'CallerUser' })

export const readMe = define({
  id: 'readMe',
  purpose: 'self',
  tag: 'Sessions',
  summary: 'Read who is calling',
  description:
    'The account, the user and the API key of the token, and what it may do. Not for tokens that have `ingest` alone.',
  scope: SCOPES_BUT_INGEST,
  reply: z.object({
    success,
    account,
    user: user.nullable().meta({
      description: 'The user who is signed in, or to whom the API key is bound; null for none.',
    }),
    key: key.nullable().meta({ description: 'The API key; null for a session.' }),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: 'What the token may do now.', example: ['read'] }),
  }),
})
