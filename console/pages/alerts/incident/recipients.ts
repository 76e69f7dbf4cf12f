import type { Delivery } from '../../../api/types.ts'

/* Who was notified of an emergency, and whether a message has reached them. */

export type Reached = 'reached' | 'sent' | 'waiting' | 'not-reached'

export interface Recipient {
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

/** People in the order of their first messages. One without a name is known by the address. */
export const groupByPerson = (deliveries: readonly Delivery[]): Recipient[] => {
  const byName = new Map<string, Delivery[]>()
  for (const delivery of deliveries) {
    const name = delivery.name ?? delivery.to
    byName.set(name, [...(byName.get(name) ?? []), delivery])
  }
  return [...byName].map(([name, own]) => ({ name, reached: reachedBy(own), deliveries: own }))
}
