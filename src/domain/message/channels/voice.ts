import { composeNoticeSms } from '../text/noticeText.ts'
import { composeCall } from '../text/voiceText.ts'
import type { ChannelDefinition } from './channel.ts'

/** Telephone calls. */
const LIMIT = 20

export const voice: ChannelDefinition = {
  addressesOf: ({ phone }) => (phone ? [phone] : []),
  isChosenBy: ({ notifyVoice }) => Boolean(notifyVoice),
  deviceLimit: () => ({ limit: LIMIT, reserve: 0 }),
  noticeLimit: () => LIMIT,
  unitsOf: () => 1,
  composeAlert: composeCall,
  composeNotice: composeNoticeSms,
}
