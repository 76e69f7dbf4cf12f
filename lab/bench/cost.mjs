import { serve, temporaryFolder } from '../harness/server.mjs'
import { formatForStatement } from './bodies.mjs'
import { openFleet } from './fleet.mjs'
import { reportStatements } from './statements.ts'

/** The rows and bytes that D1 bills for a location, measured with the statements of a report. */
export async function measureLocationCost({ script, reports, progress }) {
  progress('cost of a location')
  const { base, databases, stop } = await serve({ script, folder: temporaryFolder() })
  try {
    const { accountId, deviceId } = await openFleet(base, 'cost')
    const [db] = databases
    let time = Date.now() - 100 * 86_400_000
    const report = async (count) => {
      const times = Array.from({ length: count }, () => (time += 60_000))
      return db.batch(await reportStatements(db, accountId, deviceId, formatForStatement(times)))
    }
    const sum = (results, name) => results.reduce((total, { meta }) => total + meta[name], 0)
    const single = await report(1)
    const before = single.at(-1).meta.size_after
    let written = 0
    let last = single
    for (let round = 0; round < reports; round++) {
      last = await report(1000)
      written += sum(last, 'rows_written')
    }
    return {
      rowsWrittenByOne: sum(single, 'rows_written'),
      rowsReadByOne: sum(single, 'rows_read'),
      rowsWritten: written / (reports * 1000),
      bytes: (last.at(-1).meta.size_after - before) / (reports * 1000),
    }
  } finally {
    await stop()
  }
}
