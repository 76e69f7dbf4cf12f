/* The objects of an account in the bucket: its months, and how far the next one has been written. */

export const historyPrefix = (accountId: string): string => `accounts/${accountId}/`

/** Deletes all of an account. */
export const deleteHistory = async (bucket: R2Bucket, accountId: string): Promise<void> => {
  const prefix = historyPrefix(accountId)
  for (let isDone = false; !isDone; ) {
    const { objects, truncated } = await bucket.list({ prefix })
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
    isDone = !truncated
  }
}

/** Nobody records an object so long after it was written. */
const ORPHAN_MS = 86_400_000

/** Deletes what interrupted runs have left of a month, but never the object that readers use. */
export const deleteOrphans = async (
  bucket: R2Bucket,
  { accountId, month, now }: { accountId: string; month: string; now: number },
  recorded: string | null,
): Promise<void> => {
  const { objects } = await bucket.list({ prefix: `${historyPrefix(accountId)}${month}-` })
  const orphans = objects.filter(
    ({ key, uploaded }) => key !== recorded && uploaded.getTime() < now - ORPHAN_MS,
  )
  if (orphans.length > 0) await bucket.delete(orphans.map(({ key }) => key))
}
