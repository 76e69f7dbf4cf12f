import { composeEmail } from '../text/messageText.ts'
import { composeNoticeEmail } from '../text/noticeText.ts'
import type { ChannelDefinition } from './channel.ts'

export const email: ChannelDefinition = {
  concurrency: 3,
  addressOf: (person) => person.email,
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
