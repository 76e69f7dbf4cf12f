import { publicOrigin } from '../env.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type Provider,
  type Receipt,
  type ReceiptRequest,
  type SendOutcome,
} from './provider.ts'
import { hookUrl, openApi, readSigned, sendOnce } from './twilioApi.ts'

const send = async (env: NotifyEnv, message: Message): Promise<SendOutcome> => {
  const { TWILIO_FROM: from } = env
  const api = openApi(env, 'Messages')
  if (!api || !from) return misconfigured('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_FROM')
  const form = new URLSearchParams({
    To: message.to,
    Body: message.text,
    [from.startsWith('MG') ? 'MessagingServiceSid' : 'From']: from,
  })
  const origin = publicOrigin(env)
  if (origin) form.set('StatusCallback', hookUrl(origin, twilio.name, message))
  return sendOnce(api, message, form, ({ body }) => body === message.text)
}

const STATUS: Record<string, 'sent' | 'delivered' | 'failed'> = {
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
}

const readReceipt = async (env: NotifyEnv, request: ReceiptRequest): Promise<Receipt | null> => {
  const signed = await readSigned(env, request)
  if (!signed) return null
  const { accountId, key, form, mark } = signed
  const status = STATUS[form.get('MessageStatus') ?? ''] ?? null
  const reason =
    status === 'failed'
      ? `twilio-${/^\d+$/.exec(form.get('ErrorCode') ?? '')?.[0] ?? 'undelivered'}`
      : null
  return { accountId, key, status, reason, mark }
}

export const twilio: Provider = {
  name: 'twilio',
  send,
  givesReceipts: (env) => publicOrigin(env) !== null,
  readReceipt,
}
