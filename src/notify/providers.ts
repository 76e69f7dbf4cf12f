import type { Channel } from '../domain/message/alert.ts'
import { cloudflare } from './cloudflare.ts'
import { none } from './none.ts'
import { misconfigured, type NotifyEnv, type Provider } from './provider.ts'
import { resend } from './resend.ts'
import { twilio } from './twilio.ts'

/** A new provider is a file in this folder and an entry here. */
const PROVIDERS: Record<Channel, readonly Provider[]> = {
  Email: [none, cloudflare, resend],
  SMS: [none, twilio],
}
const CHOSEN_BY = { Email: 'EMAIL_PROVIDER', SMS: 'SMS_PROVIDER' } as const

/** An unknown name keeps messages queued until the operator corrects it. */
export const providerFor = (env: NotifyEnv, channel: Channel): Provider => {
  const name = env[CHOSEN_BY[channel]] || none.name
  const known = PROVIDERS[channel].find((provider) => provider.name === name)
  return known ?? { name, send: async () => misconfigured(CHOSEN_BY[channel]) }
}

export const providerNamed = (name: string): Provider | undefined =>
  Object.values(PROVIDERS)
    .flat()
    .find((provider) => provider.name === name)
