import { base32, base32Time } from './domain/text/base32.ts'
import { sha256 } from './domain/text/sha256.ts'

const RANDOM_LENGTH = 13

/** `dev_`, nine characters of time, thirteen random ones: ids sort by the time they were made. */
export const newId = async (prefix: string): Promise<string> => {
  const random = base32(crypto.getRandomValues(new Uint8Array(9)), RANDOM_LENGTH)
  return `${prefix}_${base32Time(Date.now())}${random}`
}

/** Always the same id for the same time and seed. */
export const deriveId = async (prefix: string, at: number, seed: string): Promise<string> =>
  `${prefix}_${base32Time(at)}${base32(await sha256(seed), RANDOM_LENGTH)}`

/**
 * Makes the same ids each time the same request is processed, so that a retry after a crash finds
 * what the first attempt created instead of creating it twice.
 */
export const repeatableIds = (claimedAt: number, seed: string) => {
  let made = 0
  return (prefix: string): Promise<string> =>
    deriveId(prefix, claimedAt, `${seed} ${prefix} ${made++}`)
}

/** What is stored for a link. It has 70 random bits, so one round is enough. */
export const hashLink = async (link: string): Promise<string> => (await sha256(link)).toHex()

/**
 * The id of an alert that a report raises. The same alert raised again, by a repeat or by
 * `POST …/alerts`, has the same id. It begins with the alert's `dateTime` and not with its arrival.
 */
export const derivedAlertId = (deviceId: string, name: string, dateTime: number): Promise<string> =>
  deriveId('alr', dateTime, `${deviceId} ${dateTime} ${name}`)
