import type { Command, SendCommandBody } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'

/* What can be sent to a device, and how it is written. */

export type Way = 'network' | 'sms'
export type Kind = keyof typeof later.conversation.kinds

export const KINDS = Object.keys(later.conversation.kinds) as Kind[]

export interface CommandDraft {
  way: Way
  kind: Kind
  /** The text, or the bytes. */
  content: string
  seconds: string
}

export const EMPTY_COMMAND: CommandDraft = {
  way: 'network',
  kind: 'text',
  content: '',
  seconds: '600',
}

/** Which field a kind has, if any. */
export const fieldOf = ({ way, kind }: CommandDraft): 'content' | 'seconds' | null => {
  if (way === 'sms' || kind === 'text' || kind === 'hex' || kind === 'base64') return 'content'
  return kind === 'trackingOn' || kind === 'interval' ? 'seconds' : null
}

export const isComplete = (draft: CommandDraft): boolean => {
  const field = fieldOf(draft)
  return field === null || draft[field].trim() !== ''
}

export const bodyOf = ({ way, kind, content, seconds }: CommandDraft): SendCommandBody => {
  if (way === 'sms') return { command: content, format: 'Text', sms: true }
  const orders: Partial<Record<Kind, string>> = {
    locate: '/locate',
    trackingOn: `/tracking ${seconds.trim()}`,
    trackingOff: '/tracking off',
    interval: `/interval ${seconds.trim()}`,
  }
  const format = kind === 'hex' ? 'Hex' : kind === 'base64' ? 'Base64' : 'Text'
  return { command: orders[kind] ?? (format === 'Text' ? content : content.trim()), format }
}

/** A reason of the API in words; what a network answers is shown as it is. */
export const answerText = ({ sms, answer }: Command): string | null => {
  if (!answer) return null
  if (!sms) return `${later.conversation.answer}: ${answer}`
  return (later.conversation.smsReasons as Record<string, string>)[answer] ?? answer
}

/** An order to the device in words; any other text as it is. */
export const commandText = ({ command, format, received, sms }: Command): string => {
  if (received || sms || format !== 'Text') return command
  if (command === '/locate') return later.conversation.kinds.locate
  if (command === '/tracking off') return later.conversation.kinds.trackingOff
  const [, name, seconds] = /^\/(tracking|interval) (\d+)$/.exec(command) ?? []
  if (!name || !seconds) return command
  const { trackingOn, interval } = later.conversation.kinds
  return later.conversation.everySeconds(name === 'tracking' ? trackingOn : interval, seconds)
}
