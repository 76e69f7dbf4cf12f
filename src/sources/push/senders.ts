import type { SourceItem } from '../../domain/account/source.ts'
import { fold } from '../../domain/text/fold.ts'
import type { DeviceArrivals, NamedDevice } from '../../ingest/arrival.ts'

/** An item of a push, with the time at which the push arrived. */
export interface ArrivedItem<Item = SourceItem> {
  item: Item
  receivedAt: number
}

type ItemOf<Kind extends SourceItem['kind']> = Extract<SourceItem, { kind: Kind }>

/** What arrived of one identifier, and the device that has it. */
export interface Sender {
  identifier: string
  arrived: ArrivedItem[]
  device: Pick<NamedDevice, 'key' | 'id'> | null
}

export const groupBySender = (arrived: ArrivedItem[]): Sender[] => {
  const senders = new Map<string, Sender>()
  for (const one of arrived) {
    const { identifier } = one.item
    const key = fold(identifier)
    const sender = senders.get(key) ?? { identifier, arrived: [], device: null }
    sender.arrived.push(one)
    senders.set(key, sender)
  }
  return [...senders.values()]
}

/** Items of one kind. */
export const itemsOf = <Kind extends SourceItem['kind'], One extends ArrivedItem>(
  arrived: One[],
  kind: Kind,
): (Omit<One, 'item'> & ArrivedItem<ItemOf<Kind>>)[] =>
  arrived.filter(({ item }) => item.kind === kind) as never

/** The items of one kind of known devices, each with its device. */
export const itemsOfDevices = <Kind extends SourceItem['kind']>(senders: Sender[], kind: Kind) =>
  senders.flatMap(({ arrived, device }) =>
    device ? itemsOf(arrived, kind).map((one) => ({ ...one, device })) : [],
  )

export const toArrivals = async (
  { identifier, arrived, device }: Sender,
  newId: (prefix: string) => Promise<string>,
): Promise<DeviceArrivals> => ({
  deviceId: device?.id ?? null,
  identifier: device ? null : identifier,
  eventId: await newId('evt'),
  contact: Math.max(0, ...arrived.map(({ receivedAt }) => receivedAt)),
  arrivals: itemsOf(arrived, 'location').map(({ item, receivedAt }) => ({
    location: item.location,
    receivedAt,
  })),
})
