import { zoneFormats } from '../../time/day.ts'
import { type MessageText, toName, toOneLine } from './messageText.ts'

/* The text of e-mails with a password link. */

export interface LinkContent {
  kind: 'invitation' | 'reset'
  /** The whole link, with the secret in its fragment. */
  url: string
  accountName: string
  /** What the account signs in with. */
  userName: string
  expires: number
}

const timeFormat = zoneFormats(
  (timeZone) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' }),
)

/** The link has a line of its own: only such lines become links in HTML. */
export const composeLinkEmail = (
  { kind, url, accountName, userName, expires }: LinkContent,
  timeZone: string,
): MessageText => {
  const account = toName(accountName, 100)
  const signIn = `sign in with the account ${userName} and this e-mail address`
  const end = `${timeFormat(timeZone).format(expires)} (${timeZone})`
  return kind === 'invitation'
    ? {
        subject: toOneLine(`Invitation to ${account}`, 150),
        text: `You have been invited to sign in to ${account}. To choose a password, open this link:

${url}

It can be used once, until ${end}. Then ${signIn}.
`,
      }
    : {
        subject: 'Reset your password',
        text: `Someone asked to reset your password for ${account}. To choose a new one, open this link:

${url}

It can be used once, until ${end}. Then ${signIn}. If you did not ask for it, you need not do anything: your password \
stays as it is.
`,
      }
}
