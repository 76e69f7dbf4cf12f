import type { Delivery } from '../api/types.ts'
import { later } from '../text/later.ts'

/** How messages are sent, in the order in which the console lists them. */
export const CHANNELS = ['Email', 'SMS', 'Push', 'Voice'] as const
export type Channel = (typeof CHANNELS)[number]

/** Where a message goes, as people know it. Of a browser the API has only an id. */
export const addressText = ({ channel, to }: Pick<Delivery, 'channel' | 'to'>): string =>
  channel === 'Push' ? later.messages.browser : to
