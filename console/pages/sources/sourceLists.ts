import { call } from '../../api/client.ts'
import { readPage } from '../../api/list.ts'
import type { Page } from '../../api/resource.ts'
import type { ListFailuresReply, ListUnclaimedReply } from '../../api/types.ts'

/* Identifiers that no device has yet, and payloads that failed. */

export type Unclaimed = ListUnclaimedReply['unclaimed'][number]
export type Failure = ListFailuresReply['failures'][number]

const PAGE_SIZE = 50

export const readUnclaimed = async (
  sourceId: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Unclaimed> & { dropped: number }> => {
  const { unclaimed, dropped, nextCursor } = await call('GET /api/sources/{sourceId}/unclaimed', {
    params: { sourceId },
    query: { cursor, limit: PAGE_SIZE },
    signal,
  })
  return { items: unclaimed, dropped, nextCursor }
}

export const readFailures = (
  sourceId: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Failure>> =>
  readPage('GET /api/sources/{sourceId}/failures', 'failures', {
    params: { sourceId },
    query: { cursor, limit: PAGE_SIZE },
    signal,
  })
