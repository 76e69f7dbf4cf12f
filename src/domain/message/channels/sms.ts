import { smsSegments } from '../gsm7.ts'
import { composeNoticeSms } from '../text/noticeText.ts'
import { composeSms, withLinkLength } from '../text/smsText.ts'
import type { ChannelDefinition } from './channel.ts'

export const sms: ChannelDefinition = {
  addressesOf: ({ phone }) => (phone ? [phone] : []),
  isChosenBy: ({ notifySms }) => Boolean(notifySms),
  deviceLimit: ({ dailySmsLimit: limit, emergencyReserve }) => ({
    limit,
    reserve: emergencyReserve?.sms ?? 0,
  }),
  noticeLimit: (limits) => limits.sms,
  unitsOf: (text) => smsSegments(withLinkLength(text)),
  composeAlert: composeSms,
  composeNotice: composeNoticeSms,
}
