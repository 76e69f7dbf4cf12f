import { CHANNELS, type Channel, onePerAddress, type Recipient } from '../alert.ts'
import type { Addresses, ChannelDefinition, Choices } from './channel.ts'
import { email } from './email.ts'
import { push } from './push.ts'
import { sms } from './sms.ts'
import { voice } from './voice.ts'

export const CHANNEL: Record<Channel, ChannelDefinition> = {
  Email: email,
  SMS: sms,
  Push: push,
  Voice: voice,
}

/** Those that everyone gets who has an address. People are called only if they or the account chose it. */
export const WRITTEN: readonly Channel[] = CHANNELS.filter((channel) => channel !== 'Voice')

/** A recipient for each address that the person has in the channels. */
export const recipientsAt = (
  person: Addresses,
  about: Omit<Recipient, 'channel' | 'to'>,
  channels: readonly Channel[] = WRITTEN,
): Recipient[] =>
  channels.flatMap((channel) =>
    CHANNEL[channel].addressesOf(person).map((to) => ({ ...about, channel, to })),
  )

/** A user who may get messages. */
export interface RecipientUser extends Addresses, Choices {
  id: string
  timeZone: string
}

/** The recipients among users, by the channels that each has chosen. */
export const chosenRecipients = (
  users: RecipientUser[],
  channels: readonly Channel[],
): Recipient[] =>
  onePerAddress(
    users.flatMap((user) => {
      const chosen = channels.filter((channel) => CHANNEL[channel].isChosenBy(user))
      return recipientsAt(user, { timeZone: user.timeZone, userId: user.id }, chosen)
    }),
  )
