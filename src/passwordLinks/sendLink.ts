import { LINK_LIFETIME_MS, type LinkKind, writeLink } from '../auth/passwordLink.ts'
import type { Writer } from '../domain/admin/audit.ts'
import { type Env, publicOrigin } from '../env.ts'
import { Problem, tooManyRequests } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import type { LinkedUser } from './store.ts'

interface LinkRequest {
  kind: LinkKind
  user: LinkedUser
  cell: number
  /** `ntc_…`: the same id is sent only once. */
  noticeId: string
  now: number
  /** Who asks for it. */
  writer: Writer
}

/** The page of the console that takes the link; the secret is in the fragment, which no server sees. */
export const linkUrl = (origin: string, link: string): string => `${origin}/password#${link}`

/**
 * Has the ledger e-mail a link to the user. The link is made from PUBLIC_URL and never from the
 * request: with a forged host the secret would go to somebody else's server.
 */
export const sendLink = async (
  env: Env,
  { kind, user, cell, noticeId, now, writer }: LinkRequest,
): Promise<{ expires: number }> => {
  const origin = publicOrigin(env)
  if (origin === null) throw new Problem('links-unavailable')
  const expires = now + LINK_LIFETIME_MS[kind]
  const link = await writeLink(env, { kind, cell, userId: user.id, expires }, user)
  const { accountName, accountUserName: userName } = user
  const url = linkUrl(origin, link)
  const outcome = await ledgerOf(env, user.accountId).sendNotice(
    {
      id: noticeId,
      content: { kind, url, accountName, userName, expires },
      recipients: [{ channel: 'Email', to: user.email, timeZone: user.timeZone }],
      isUrgent: false,
      link: { kind, userId: user.id },
    },
    writer,
  )
  if (outcome.ok) return { expires }
  if (outcome.refusal === 'account-not-found') throw new Problem('account-not-found')
  const detail = 'Too many links or e-mails were sent to this user or for this account.'
  throw tooManyRequests(detail, outcome.retryAt)
}
