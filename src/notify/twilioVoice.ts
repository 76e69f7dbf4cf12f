import { type CallReply, CHOICES, NO_KEY } from '../domain/message/call.ts'
import { escapeHtml } from '../domain/text/html.ts'
import { publicOrigin } from '../env.ts'
import {
  type Message,
  misconfigured,
  type NotifyEnv,
  type PressedKeyRequest,
  type Provider,
  type Receipt,
  type ReceiptRequest,
  type SendOutcome,
} from './provider.ts'
import { hookUrl, openApi, readSigned, sendOnce } from './twilioApi.ts'

/* Calls through Twilio, which reads a text and sends us the key that was pressed. */

/** Twilio takes 4,000 characters of TwiML, and an escaped character is up to six. */
const MAX_CHARACTERS = 560
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

const toXml = (text: string): string =>
  escapeHtml([...text.replaceAll(NOT_IN_XML, ' ')].slice(0, MAX_CHARACTERS).join(''))

const say = (xml: string, attributes = ''): string =>
  `<Say language="en-GB"${attributes}>${xml}</Say>`

const respond = (content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response>${content}</Response>`

/** Reads the text twice and waits for one key, which goes to `digitsUrl`. */
const ask = (text: string, digitsUrl: string): string => {
  const gather = `Gather numDigits="1" finishOnKey="" timeout="10" action="${escapeHtml(digitsUrl)}"`
  const question = say(`${toXml(text)} ${CHOICES}`, ' loop="2"')
  return respond(`<${gather}>${question}</Gather>${say(NO_KEY)}`)
}

const HOOK = 'twilio-voice'
const WRONG = 'wrong'

const digitsUrl = (origin: string, { accountId, key }: Pick<Message, 'accountId' | 'key'>) =>
  `${origin}/hooks/${HOOK}/${accountId}/digits?message=${key}`

/** In seconds: whoever listens again and again ends by then. */
const MAX_CALL_SECONDS = 300

const send = async (env: NotifyEnv, message: Message): Promise<SendOutcome> => {
  const { TWILIO_VOICE_FROM, TWILIO_FROM = '' } = env
  // A messaging service cannot call.
  const from = TWILIO_VOICE_FROM || (TWILIO_FROM.startsWith('+') ? TWILIO_FROM : null)
  const api = openApi(env, 'Calls')
  if (!api || !from)
    return misconfigured('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_VOICE_FROM')
  const origin = publicOrigin(env)
  if (!origin) return misconfigured('PUBLIC_URL')
  const { to, text, isOfOther = () => false } = message
  const form = new URLSearchParams({
    To: to,
    From: from,
    Twiml: ask(text, digitsUrl(origin, message)),
    TimeLimit: String(MAX_CALL_SECONDS),
    StatusCallback: hookUrl(origin, HOOK, message),
    StatusCallbackEvent: 'initiated',
  })
  form.append('StatusCallbackEvent', 'completed')
  // A list of calls has no texts: one that is no other message's is this one.
  const isSame = (call: { [member: string]: unknown }) =>
    call.from === from && !isOfOther(String(call.sid))
  return sendOnce(api, message, form, isSame)
}

const NAME = 'twilio'
const IS_KEY = /^[\d*#]$/

/** The first report may overtake Twilio's reply to our request. */
const acceptedIn = (form: URLSearchParams): Pick<Receipt, 'accepted'> => {
  const providerId = form.get('CallSid')
  return providerId ? { accepted: { provider: NAME, providerId } } : {}
}

const ENDED_WITHOUT_KEY = 'completed'
/** How a call can end. A voice mailbox answers too: only a pressed key shows a person. */
const FAILED = [ENDED_WITHOUT_KEY, 'busy', 'no-answer', 'failed', 'canceled']
const UNDER_WAY = ['queued', 'initiated', 'ringing', 'in-progress']

const readReceipt = async (env: NotifyEnv, request: ReceiptRequest): Promise<Receipt | null> => {
  const signed = await readSigned(env, request)
  if (!signed) return null
  const { accountId, key, form, mark } = signed
  const call = form.get('CallStatus') ?? ''
  const about = { accountId, key, ...acceptedIn(form), mark }
  if (UNDER_WAY.includes(call)) return { ...about, status: 'sent', reason: null }
  if (!FAILED.includes(call)) return { ...about, status: null, reason: null }
  const what = call === ENDED_WITHOUT_KEY ? 'not-confirmed' : call
  return { ...about, status: 'failed', reason: `voice-${what}` }
}

const readKey = async (
  env: NotifyEnv,
  request: ReceiptRequest,
): Promise<PressedKeyRequest | null> => {
  const signed = await readSigned(env, request)
  if (!signed) return null
  const { accountId, key, form, query, mark } = signed
  const digit = form.get('Digits') ?? ''
  const status = IS_KEY.test(digit) ? 'delivered' : null
  return {
    pressed: { key, digit, wasWrong: query.has(WRONG) },
    receipt: { accountId, key, ...acceptedIn(form), status, reason: null, mark },
  }
}

const presentReply = (
  env: NotifyEnv,
  { text, isEnd, isWrong = false }: CallReply,
  { accountId, key }: Pick<Receipt, 'accountId' | 'key'>,
): string => {
  const url = digitsUrl(publicOrigin(env) ?? '', { accountId: accountId ?? '', key })
  return isEnd ? respond(say(toXml(text))) : ask(text, isWrong ? `${url}&${WRONG}=1` : url)
}

export const twilioVoice: Provider = {
  name: NAME,
  hook: HOOK,
  send,
  givesReceipts: () => true,
  readReceipt,
  calls: { readKey, presentReply },
}
