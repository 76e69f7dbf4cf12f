import type { Channel } from '../domain/message/alert.ts'
import { cloudflare } from './cloudflare.ts'
import { none } from './none.ts'
import { misconfigured, type NotifyEnv, type Provider } from './provider.ts'
import { resend } from './resend.ts'
import { twilio } from './twilio.ts'
import { twilioVoice } from './twilioVoice.ts'
import { webPush } from './webPush.ts'

interface ChannelProviders {
  /** The variable that names the provider in use. */
  variable: keyof NotifyEnv & `${string}_PROVIDER`
  /** The first is the default. */
  providers: readonly [Provider, ...Provider[]]
}

/** A new provider is a file in this folder and an entry here. */
const PROVIDERS: Record<Channel, ChannelProviders> = {
  Email: { variable: 'EMAIL_PROVIDER', providers: [none, cloudflare, resend] },
  SMS: { variable: 'SMS_PROVIDER', providers: [none, twilio] },
  Push: { variable: 'PUSH_PROVIDER', providers: [webPush, none] },
  Voice: { variable: 'VOICE_PROVIDER', providers: [none, twilioVoice] },
}

/** An unknown name keeps messages queued until the operator corrects it. */
export const providerFor = (env: NotifyEnv, channel: Channel): Provider => {
  const { variable, providers } = PROVIDERS[channel]
  const name = env[variable] || providers[0].name
  const known = providers.find((provider) => provider.name === name)
  return known ?? { name, send: async () => misconfigured(variable), givesReceipts: () => false }
}

/** The provider whose receipts come to `/hooks/{hook}/…`. */
export const providerAt = (hook: string): Provider | undefined =>
  Object.values(PROVIDERS)
    .flatMap(({ providers }) => providers)
    .find((provider) => (provider.hook ?? provider.name) === hook)
