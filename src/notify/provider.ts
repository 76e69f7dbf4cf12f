import type { MessageKind } from '../domain/message/alert.ts'
import type { CallReply, PressedKey } from '../domain/message/call.ts'

/** The configuration of the providers. All of it is optional: without any, nothing is sent. */
export interface NotifyEnv {
  EMAIL_PROVIDER?: string
  SMS_PROVIDER?: string
  PUSH_PROVIDER?: string
  VOICE_PROVIDER?: string
  /** `name@example.com` or `Perigee <name@example.com>`. */
  EMAIL_FROM?: string
  /** Cloudflare's e-mail sender, if `[[send_email]]` binds it. */
  EMAIL?: SendEmail
  /** `true` if the queue of Cloudflare's e-mail events is set up. */
  EMAIL_EVENTS?: string
  RESEND_API_KEY?: string
  RESEND_WEBHOOK_SECRET?: string
  RESEND_URL?: string
  TWILIO_ACCOUNT_SID?: string
  TWILIO_AUTH_TOKEN?: string
  /** A phone number, or a messaging service (`MG…`). */
  TWILIO_FROM?: string
  /** The number that calls people; without it TWILIO_FROM, if that is a number. */
  TWILIO_VOICE_FROM?: string
  TWILIO_URL?: string
  /** The service's public URL: providers send receipts to it. */
  PUBLIC_URL?: string
  SEND_TIMEOUT_MS?: string
}

/** What is sent to one recipient, and what channels with more than a text need to know of it. */
export interface Message {
  /** The same on every attempt, so that a provider with idempotency keys sends it once. */
  key: string
  accountId: string
  /** The account's cell, where a provider finds what belongs to the recipient. */
  cell: number
  kind: MessageKind
  /** Of an emergency. */
  isUrgent: boolean
  /** Of a drill. */
  isTest: boolean
  /** Null for a message about no alert. */
  alertId: string | null
  /** The path of the link in the text: `/a/…`. */
  link: string | null
  to: string
  /** The user whom it is for; null for anybody else. */
  userId?: string | null
  subject: string
  text: string
  /** Time of the first attempt of unknown outcome; null if certainly none was accepted. */
  unsureSince: number | null
  /** Whether the provider's id is known to be that of another message. */
  isOfOther?: (providerId: string) => boolean
}

export type SendOutcome =
  | { kind: 'accepted'; providerId: string | null }
  /** Final: no later attempt can succeed. */
  | { kind: 'refused'; reason: string }
  /** `maybeAccepted`: the provider may have accepted it, as after a timeout. */
  | { kind: 'retry'; reason: string; maybeAccepted: boolean }
  /** The provider asks for no message before `afterMs` has passed. */
  | {
      kind: 'throttled'
      reason: string
      afterMs: number
      /** Whether it asks so for this recipient alone. */
      isOfRecipient?: boolean
    }

/** A provider's report on a message that it accepted. */
export interface Receipt {
  accountId: string | null
  key: string
  /** The provider's own id of the message, where that is what it reports; else the key is ours. */
  providerId?: string
  /** Who has accepted it, and under which id, where the report has that beside our key. */
  accepted?: { provider: string; providerId: string }
  /** Null if the report does not change the message's status. */
  status: 'sent' | 'delivered' | 'failed' | null
  reason: string | null
  /** Unique for each report: a second one with the same mark is a replay. */
  mark: string
}

/** A receipt as it arrived. */
export interface ReceiptRequest {
  url: string
  headers: Headers
  body: string
}

/** A key that was pressed in a call, which shows that a person was reached. */
export interface PressedKeyRequest {
  pressed: PressedKey
  receipt: Receipt
}

export interface Provider {
  /** The value of the channel's `…_PROVIDER`. */
  name: string
  /** The segment after `/hooks/`, where it is not the name: no two providers share it. */
  hook?: string
  send: (env: NotifyEnv, message: Message) => Promise<SendOutcome>
  /**
   * Whether it reports, as it is set up, what becomes of a message that it has accepted. Without
   * receipts, an accepted message counts as one that has reached its recipient.
   */
  givesReceipts: (env: NotifyEnv) => boolean
  /** Null if the signature is wrong. */
  readReceipt?: (env: NotifyEnv, request: ReceiptRequest, now: number) => Promise<Receipt | null>
  /** Of a provider that calls people. */
  calls?: {
    /** Null if the signature is wrong. */
    readKey: (env: NotifyEnv, request: ReceiptRequest) => Promise<PressedKeyRequest | null>
    /** What the call goes on with, in the provider's XML. */
    presentReply: (
      env: NotifyEnv,
      reply: CallReply,
      about: Pick<Receipt, 'accountId' | 'key'>,
    ) => string
  }
}

export const misconfigured = (what: string): SendOutcome => ({
  kind: 'retry',
  reason: `not-configured: ${what}`,
  maybeAccepted: false,
})

export const sendTimeoutMs = (env: NotifyEnv): number => Number(env.SEND_TIMEOUT_MS) || 10_000
