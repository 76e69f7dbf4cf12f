import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { Subscriber } from '../../../src/feed/subscriber.ts'
import type { TestAccount } from '../../support/accounts.ts'
import { feedStub, type Listener } from '../eventSupport.ts'
import { makeToken, readToken } from '../everyRoute/tokens.ts'

/** The type and name of each event that a stream got. */
export const namesOf = (stream: Listener) =>
  stream.events.map(({ type, data }) => `${type} ${data.name}`)

/** The state of the account's open streams. */
export const subscribersOf = (account: TestAccount): Promise<Subscriber[]> =>
  runInDurableObject(feedStub(account), (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  )

/** The account's token with another lifetime: it was issued 30 seconds ago. */
export const tokenExpiringIn = async (account: TestAccount, seconds: number): Promise<string> => {
  const { header, claims } = readToken(account.token)
  const now = Math.floor(Date.now() / 1000)
  return makeToken(header, { ...claims, iat: now - 30, exp: now - 30 + seconds }, env.TOKEN_SECRET)
}
