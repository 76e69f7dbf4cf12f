import type { Channel, MessageSummary, Status } from './alert.ts'

/* What a drill, a test of the emergency chain, has shown. */

interface Person {
  user?: string
  contact?: string
  /** Null if it is not known any more. */
  name: string | null
  channel: Channel
}

export interface DrillOutcome {
  reached: (Person & { seconds: number })[]
  notReached: (Person & { status: Status; reason: string | null })[]
}

const personOf = ({ userId, contact, name, channel }: MessageSummary): Person => ({
  ...(userId != null && { user: userId }),
  ...(contact != null && { contact }),
  name: name ?? null,
  channel,
})

const keyOf = ({ userId, contact, channel, to }: MessageSummary): string =>
  JSON.stringify([channel, userId ?? null, contact ?? null, userId || contact ? '' : to])

/**
 * Each person and channel once, with the first message that has reached them: one that is delivered,
 * or accepted where the provider gives no receipts.
 */
export const summarizeDrill = (
  raisedAt: number,
  messages: readonly MessageSummary[],
  givesReceipts: (channel: Channel) => boolean,
): DrillOutcome => {
  const hasReached = ({ status, channel }: MessageSummary): boolean =>
    status === 'delivered' || (status === 'sent' && !givesReceipts(channel))
  const outcome: DrillOutcome = { reached: [], notReached: [] }
  for (const ofPerson of Map.groupBy(messages, keyOf).values()) {
    const times = ofPerson.filter(hasReached).map(({ changedAt = raisedAt }) => changedAt)
    const [first] = ofPerson
    const last = ofPerson.at(-1)
    if (!first || !last) continue
    if (times.length > 0) {
      const seconds = Math.max(0, Math.round((Math.min(...times) - raisedAt) / 1000))
      outcome.reached.push({ ...personOf(first), seconds })
    } else {
      const { status, reason } = last
      outcome.notReached.push({ ...personOf(last), status, reason })
    }
  }
  return outcome
}
