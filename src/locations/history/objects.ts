/* The objects of an account in the bucket: its months, and how far the next one has been written. */

export const historyPrefix = (accountId: string): string => `accounts/${accountId}/`

/** A month that is being written: the object, and the upload that it is made by. */
export interface Upload {
  object: string
  uploadId: string
}

/** Ends an upload, whose parts would otherwise stay for a week. It may be over already. */
export const abortUpload = (bucket: R2Bucket, { object, uploadId }: Upload): Promise<void> =>
  bucket
    .resumeMultipartUpload(object, uploadId)
    .abort()
    .catch(() => {})

export const PROGRESS = '.progress'

/** Deletes all of an account. */
export const deleteHistory = async (bucket: R2Bucket, accountId: string): Promise<void> => {
  const prefix = historyPrefix(accountId)
  for (let isDone = false; !isDone; ) {
    const { objects, truncated } = await bucket.list({ prefix })
    for (const { key } of objects.filter((object) => object.key.endsWith(PROGRESS))) {
      const progress = await bucket.get(key)
      if (progress) await abortUpload(bucket, await progress.json<Upload>())
    }
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
