import type { Account, Device, User } from '../../api/types.ts'
import { CHANNELS, type Channel } from '../../format/channels.ts'

/** Somebody who gets messages of a test, and how. */
export interface Receiver {
  key: string
  name: string
  channels: Channel[]
}

const isActive = ({ disabled, from, expires }: User, now: string): boolean =>
  !disabled && (from === null || from <= now) && (expires === null || expires > now)

const seesDevice = ({ groupId }: User, { groups }: Device): boolean =>
  groupId === null || groups.includes(groupId)

const channelsOf = (has: Partial<Record<Channel, boolean>>): Channel[] =>
  CHANNELS.filter((channel) => has[channel])

/** Who is notified at once, and who if nobody is reached or nobody acknowledges it. */
export const receiversOf = (
  device: Device,
  { emergencyContacts }: Account,
  users: readonly User[] | null,
  now = new Date().toISOString(),
): { users: Receiver[] | null; contacts: Receiver[] } => ({
  users:
    users
      ?.filter((user) => isActive(user, now) && seesDevice(user, device))
      .map(({ id, name, notify, phone }) => ({
        key: id,
        name,
        channels: channelsOf({
          Email: notify.email,
          SMS: notify.sms && phone !== null,
          Voice: notify.voice && phone !== null,
        }),
      }))
      .filter(({ channels }) => channels.length > 0) ?? null,
  contacts: emergencyContacts.map(({ name, email, phone }, at) => ({
    key: String(at),
    name,
    channels: channelsOf({ Email: Boolean(email), SMS: Boolean(phone) }),
  })),
})
