import { env } from 'cloudflare:workers'
import type { Box } from './providers.ts'

let made = 0

/** Unique addresses: the providers of the tests keep each recipient apart. */
export const someEmail = (): string => `r${++made}-${crypto.randomUUID().slice(0, 8)}@example.com`
export const somePhone = (): string =>
  `+3519${String(crypto.getRandomValues(new Uint32Array(1))[0])
    .padStart(10, '0')
    .slice(-8)}`

/** Sets how the provider behaves for a recipient, request by request; then it accepts. */
export const script = async (to: string, ...behaviours: string[]): Promise<void> => {
  await fetch(`${env.PROVIDERS}/script/${encodeURIComponent(to)}`, {
    method: 'PUT',
    body: JSON.stringify(behaviours),
  })
}

/** What a provider has received and sent for a recipient. */
export const boxOf = async (to: string): Promise<Box> =>
  (await fetch(`${env.PROVIDERS}/script/${encodeURIComponent(to)}`)).json()
