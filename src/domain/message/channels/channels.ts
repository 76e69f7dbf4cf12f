import { CHANNELS, type Channel, onePerAddress, type Recipient } from '../alert.ts'
import type { Addresses, ChannelDefinition, Choices } from './channel.ts'
import { email } from './email.ts'
import { sms } from './sms.ts'

export const CHANNEL: Record<Channel, ChannelDefinition> = { Email: email, SMS: sms }

/** A recipient for each of the channels that the person has an address for. */
export const recipientsAt = (
  person: Addresses,
  about: Omit<Recipient, 'channel' | 'to'>,
  channels: readonly Channel[] = CHANNELS,
): Recipient[] =>
  channels.flatMap((channel) => {
    const to = CHANNEL[channel].addressOf(person)
    return to == null ? [] : [{ ...about, channel, to }]
  })

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
