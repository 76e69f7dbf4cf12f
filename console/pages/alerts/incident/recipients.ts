import type { Delivery } from '../../../api/types.ts'
import { addressText } from '../../../format/channels.ts'

/* Who was notified of an emergency, and whether a message has reached them. */

export type Reached = 'reached' | 'sent' | 'waiting' | 'not-reached'

export interface Recipient {
  key: string
  name: string
  reached: Reached
  deliveries: Delivery[]
}

const STATUSES: readonly [Reached, Delivery['status']][] = [
  ['reached', 'delivered'],
  ['sent', 'sent'],
  ['waiting', 'queued'],
]

/** The best of what became of the messages to a person. */
const reachedBy = (deliveries: readonly Delivery[]): Reached =>
  STATUSES.find(([, wanted]) => deliveries.some(({ status }) => status === wanted))?.[0] ??
  'not-reached'

const keyOf = ({ userId, name, to }: Delivery): string => userId ?? name ?? to

/**
 * People in the order of their first messages. Users may have the same name as another or as a
 * contact; one without a name is known by the address.
 */
export const groupByPerson = (deliveries: readonly Delivery[]): Recipient[] =>
  [...Map.groupBy(deliveries, keyOf)].map(([key, own]) => ({
    key,
    name: own[0]?.name ?? (own[0] ? addressText(own[0]) : key),
    reached: reachedBy(own),
    deliveries: own,
  }))
