/** How messages are sent, in the order in which the console lists them. */
export const CHANNELS = ['Email', 'SMS', 'Push', 'Voice'] as const
export type Channel = (typeof CHANNELS)[number]
