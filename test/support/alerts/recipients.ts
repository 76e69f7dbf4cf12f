import { env } from 'cloudflare:workers'
import type { RecipientRecord } from '../run/providers.ts'

let emailCount = 0

/** An address for one test: the test providers keep their records by recipient. */
export const uniqueEmail = (): string =>
  `r${++emailCount}-${crypto.randomUUID().slice(0, 8)}@example.com`

export const uniquePhone = (): string =>
  `+3519${String(crypto.getRandomValues(new Uint32Array(1))[0])
    .padStart(10, '0')
    .slice(-8)}`

const recordUrl = (to: string) => `${env.PROVIDERS}/recipients/${encodeURIComponent(to)}`

/**
 * Sets how the providers treat this recipient's next messages, one after the other. Later ones are
 * accepted.
 */
export const scriptProvider = async (to: string, ...behaviours: string[]): Promise<void> => {
  await fetch(recordUrl(to), { method: 'PUT', body: JSON.stringify(behaviours) })
}

/** What the providers have received for a recipient, and sent. */
export const readProviderRecord = async (to: string): Promise<RecipientRecord> =>
  (await fetch(recordUrl(to))).json()
