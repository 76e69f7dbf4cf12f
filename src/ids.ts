import { base32, base32Time } from './domain/base32.ts'

const LENGTH = 13

/** `dev_` + nine characters of time + thirteen of chance: neighbours in time are neighbours in the index. */
export const newId = async (prefix: string): Promise<string> =>
  `${prefix}_${base32Time(Date.now())}${base32(crypto.getRandomValues(new Uint8Array(9)), LENGTH)}`

/**
 * Ids that come out the same whenever the same request is carried out again: a retry after a crash
 * meets what the first try left behind instead of making it twice.
 */
export const repeatableIds = (claimedAt: number, seed: string) => {
  let made = 0
  return async (prefix: string): Promise<string> => {
    const digest = await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(`${seed} ${prefix} ${made++}`),
    )
    return `${prefix}_${base32Time(claimedAt)}${base32(new Uint8Array(digest), LENGTH)}`
  }
}
