import type { DeviceLimits } from '../../account/device.ts'
import type { EmergencySettings } from '../emergency.ts'
import type { AlertDetails, MessageText } from '../text/messageText.ts'
import type { NoticeContent } from '../text/noticeText.ts'

/** A person's addresses, as a user or an emergency contact has them. */
export interface Addresses {
  email?: string | null | undefined
  phone?: string | null | undefined
  /** The ids of a user's push subscriptions, one for each browser. */
  push?: readonly string[] | undefined
}

/** Which alerts a user wants; 1 and 0 as SQLite has them. */
export interface Choices {
  notifyEmail: boolean | number
  notifySms: boolean | number
  notifyPush: boolean | number
  notifyVoice: boolean | number
}

/**
 * What differs between channels. A new channel is a file beside this one, a row in `channels.ts`, and
 * the list of its providers in `src/notify/providers.ts`.
 */
export interface ChannelDefinition {
  addressesOf: (person: Addresses) => readonly string[]
  /** Whether a user wants alerts by this channel. */
  isChosenBy: (user: Choices) => boolean
  /** The messages of a device and a day; `reserve` is the part that only emergencies may use. */
  deviceLimit: (limits: DeviceLimits) => { limit: number; reserve: number }
  /** The notices and escalations of an account and a day. */
  noticeLimit: (limits: EmergencySettings['dailyNoticeLimit']) => number
  /** How often a message counts in the operator's budget. */
  unitsOf: (text: string) => number
  composeAlert: (details: AlertDetails, timeZone: string) => MessageText
  composeNotice: (content: NoticeContent, timeZone: string) => MessageText
}
