import { composeEmail } from '../text/messageText.ts'
import { composeNoticeEmail } from '../text/noticeText.ts'
import type { ChannelDefinition } from './channel.ts'

export const email: ChannelDefinition = {
  addressesOf: ({ email: address }) => (address ? [address] : []),
  isChosenBy: ({ notifyEmail }) => Boolean(notifyEmail),
  deviceLimit: ({ dailyEmailLimit: limit, emergencyReserve }) => ({
    limit,
    reserve: emergencyReserve?.email ?? 0,
  }),
  noticeLimit: (limits) => limits.email,
  unitsOf: () => 1,
  composeAlert: composeEmail,
  composeNotice: composeNoticeEmail,
}
