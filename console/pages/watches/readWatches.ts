import { readAll } from '../../api/list.ts'
import type { Watch } from '../../api/watchTypes.ts'
import { sortWatches } from './watches.ts'

/** All of them: an account has at most 1000, which is one page. */
export const readWatches = async (signal?: AbortSignal): Promise<Watch[]> =>
  sortWatches(await readAll('GET /api/watches', 'watches', { signal }))
