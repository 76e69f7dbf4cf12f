import { readAll } from '../../api/list.ts'
import type { Watch } from '../../api/types.ts'
import { sortWatches } from './watches.ts'

interface ReadOptions {
  /** Only those of this device. */
  deviceId?: string
  signal?: AbortSignal
}

/** All of them: an account has at most 1000, which is one page. */
export const readWatches = async ({ deviceId, signal }: ReadOptions): Promise<Watch[]> => {
  const watches = await readAll('GET /api/watches', 'watches', { query: { deviceId }, signal })
  return sortWatches(watches)
}
