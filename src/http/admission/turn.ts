/*
 * Reports of one device that are evaluated take turns within an isolate: in parallel they would lose
 * their races against each other. Waiting reports poll: a request whose client has disconnected would
 * never wake them.
 */

const POLL_MS = 4
const MAX_WAIT_MS = 2000
/** After a disconnect `finally` may never run: a turn ends by itself. */
const MAX_TURN_MS = 5000

const turns = new Map<string, { holder: object; until: number }>()

const isFree = (deviceId: string): boolean => (turns.get(deviceId)?.until ?? 0) < Date.now()

/** Runs `work` when no other report of the devices runs here, or after two seconds anyway. */
export const takeTurn = async <T>(deviceIds: string[], work: () => Promise<T>): Promise<T> => {
  const giveUpAt = Date.now() + MAX_WAIT_MS
  while (!deviceIds.every(isFree) && Date.now() < giveUpAt) await scheduler.wait(POLL_MS)
  const holder = {}
  const until = Date.now() + MAX_TURN_MS
  for (const deviceId of deviceIds) turns.set(deviceId, { holder, until })
  try {
    return await work()
  } finally {
    for (const deviceId of deviceIds)
      if (turns.get(deviceId)?.holder === holder) turns.delete(deviceId)
  }
}
