import { env } from 'cloudflare:workers'
import type { Box } from './providers.ts'

let made = 0

/** Addresses of a test's own: providers keep what each recipient meets apart. */
export const someEmail = (): string => `r${++made}-${crypto.randomUUID().slice(0, 8)}@example.com`
export const somePhone = (): string =>
  `+3519${String(crypto.getRandomValues(new Uint32Array(1))[0])
    .padStart(10, '0')
    .slice(-8)}`

/** What messages to a recipient meet, one after the other; those after the last are accepted. */
export const script = async (to: string, ...behaviours: string[]): Promise<void> => {
  await fetch(`${env.PROVIDERS}/script/${encodeURIComponent(to)}`, {
    method: 'PUT',
    body: JSON.stringify(behaviours),
  })
}

/** What a provider has seen and sent. */
export const boxOf = async (to: string): Promise<Box> =>
  (await fetch(`${env.PROVIDERS}/script/${encodeURIComponent(to)}`)).json()
