import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { mendOpenings } from './abandonedAccounts.ts'
import { attempt } from './attempt.ts'
import { cellsAt } from './cells.ts'
import { erasePages } from './erase.ts'
import { recordExpirations } from './expirations.ts'
import { trimTracks } from './tracks.ts'
import { trim } from './trim.ts'

/** What the cron trigger does. Nothing is correct because of it: it records, erases and trims, in bounded pages, and can run twice. */
export const sweep = async (env: Env, now: number): Promise<void> => {
  await attempt('openings', { cell: 0 }, () => mendOpenings(env, openDirectory(env), now))
  for (const cell of cellsAt(cellNumbers(env), now)) {
    const db = openCell(env, cell)
    await attempt('expirations', { cell }, () => recordExpirations(env, db, now))
    await attempt('erasures', { cell }, () => erasePages(env, db, now))
    await attempt('trim', { cell }, () => trim(db, now))
    await attempt('tracks', { cell }, () => trimTracks(db, now))
  }
}
