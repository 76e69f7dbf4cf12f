import { composeNoticePush, composePush } from '../text/pushText.ts'
import type { ChannelDefinition } from './channel.ts'

/** Notifications in browsers. They cost nothing: the limit stops a tracker that is stuck. */
const LIMIT = 1000

export const push: ChannelDefinition = {
  addressesOf: ({ push: subscriptions = [] }) => subscriptions,
  isChosenBy: ({ notifyPush }) => Boolean(notifyPush),
  deviceLimit: () => ({ limit: LIMIT, reserve: 0 }),
  noticeLimit: () => LIMIT,
  unitsOf: () => 1,
  composeAlert: composePush,
  composeNotice: composeNoticePush,
}
