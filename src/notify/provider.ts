import type { Channel } from '../domain/alert.ts'

/** What the providers read of the environment. All of it is optional: without any, messages are kept in the outbox. */
export interface NotifyEnv {
  EMAIL_PROVIDER?: string
  SMS_PROVIDER?: string
  /** `name@example.com` or `Perigee <name@example.com>`. */
  EMAIL_FROM?: string
  /** Cloudflare's own sender, where `[[send_email]]` binds it. */
  EMAIL?: SendEmail
  RESEND_API_KEY?: string
  RESEND_WEBHOOK_SECRET?: string
  RESEND_URL?: string
  TWILIO_ACCOUNT_SID?: string
  TWILIO_AUTH_TOKEN?: string
  /** A phone number, or a messaging service (`MG…`). */
  TWILIO_FROM?: string
  TWILIO_URL?: string
  /** Where the service is reached from outside: receipts come back to it. */
  PUBLIC_URL?: string
  /** How long a provider has to answer. */
  SEND_TIMEOUT_MS?: string
}

export interface Message {
  /** The same on every try: a provider that knows idempotency sends it once. */
  key: string
  accountId: string
  to: string
  subject: string
  text: string
  /** When a try was made whose outcome is not known; null where every one so far was surely not accepted. */
  unsureSince: number | null
}

export type SendOutcome =
  | { kind: 'accepted'; providerId: string | null }
  /** For good: no later try would fare better. */
  | { kind: 'refused'; reason: string }
  /** `maybeAccepted`: the provider may have taken it all the same, as after a timeout. */
  | { kind: 'retry'; reason: string; maybeAccepted: boolean }
  /** Nothing to this provider before `after` milliseconds have passed. */
  | { kind: 'throttled'; reason: string; after: number }

/** A provider's word on what became of a message that it accepted. */
export interface Receipt {
  accountId: string | null
  key: string
  /** Null for what does not change where the message stands. */
  status: 'sent' | 'delivered' | 'failed' | null
  reason: string | null
  /** Tells this very request from every other: a second one with the same is a replay. */
  mark: string
}

/** A receipt as it came. The URL is the one that the provider called. */
export interface ReceiptRequest {
  url: string
  headers: Headers
  body: string
}

export interface Provider {
  name: string
  send: (env: NotifyEnv, message: Message) => Promise<SendOutcome>
  /** Null where the signature does not hold. */
  readReceipt?: (env: NotifyEnv, request: ReceiptRequest, now: number) => Promise<Receipt | null>
}

export type Providers = Record<Channel, Provider>

export const misconfigured = (what: string): SendOutcome => ({
  kind: 'retry',
  reason: `not-configured: ${what}`,
  maybeAccepted: false,
})

/** The service's own origin as the outside knows it; null where nobody has said. */
export const publicOrigin = ({ PUBLIC_URL = '' }: NotifyEnv): string | null =>
  URL.canParse(PUBLIC_URL) ? new URL(PUBLIC_URL).origin : null

export const sendTimeout = (env: NotifyEnv): number => Number(env.SEND_TIMEOUT_MS) || 10_000
