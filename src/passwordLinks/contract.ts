import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { done, line, newPassword, success, time } from '../http/contract/wire.ts'
import { accountName, emailAddress } from '../sessions/contract.ts'

const tag = 'Sessions'

export const inviteUser = define({
  id: 'inviteUser',
  tag,
  summary: 'Invite a user',
  description:
    'E-mails the user a link with which to set a password, and the account’s user name to sign in with. The link is valid for 7 days, once, and ends when the user’s password or e-mail address changes. At most three an hour for each user, and 500 a day for the account.',
  scope: 'admin',
  wholeAccount: true,
  reply: z.object({ success, expires: time.meta({ description: 'When the link expires.' }) }),
  problems: ['user-not-found', 'links-unavailable'],
  idempotent: true,
})

export const requestReset = define({
  id: 'requestReset',
  tag,
  summary: 'Ask for a password reset',
  description:
    'E-mails the user a link with which to set a new password; it is valid for one hour, once. The reply is always the same, whether there is such a user or not. Only users who have a password get a link: others have to be invited. At most three an hour for each user, and 100 a day for the account; the first one of a user in 24 hours is not refused for those of others.',
  scope: 'open',
  body: z.strictObject({ account: accountName, email: emailAddress }),
  reply: done,
})

export const setPassword = define({
  id: 'setPassword',
  tag,
  summary: 'Set a password with a link',
  description:
    'Takes the link of an invitation or a reset. All sessions of the user end. At most 30 attempts a minute for each address, together with sign-ins.',
  scope: 'open',
  body: z.strictObject({
    link: line(2000).min(1, 'must not be empty').meta({
      description: 'What follows the `#` in the link, or the whole link.',
      example: 'reset.0.usr_1jn7wz3h4q8v2n5t7r6m0p.1794650000000.…',
    }),
    password: newPassword.meta({
      description: 'At least 12 characters, and no common password.',
      example: 'correct horse battery',
    }),
  }),
  reply: z.object({
    success,
    account: z
      .string()
      .meta({ description: 'The user name of the account, to sign in with.', example: 'demo' }),
    email: z.string().meta({ description: 'The user’s e-mail address, to sign in with.' }),
  }),
  problems: ['invalid-link', 'account-disabled', 'user-disabled', 'too-many-requests'],
})
