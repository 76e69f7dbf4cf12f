import { createRandom } from '../harness/random.mjs'
import { median } from '../harness/rate.mjs'
import { openFloods } from './floods.mjs'
import { openConnections, runOpenLoop, sendTimed } from './openLoop.mjs'
import { openTenant, timesSince } from './tenant.mjs'

/*
 * One account floods the server, another sends ordinary requests. The flood must not slow the other
 * account down.
 */

const PER_SECOND = 20

/**
 * Measures the neighbour's replies alone and beside each flood, in alternating rounds. Returns a
 * result for each flood.
 */
export async function measureNeighbour({ base, isLong, seed, progress, names }) {
  const random = createRandom(seed)
  const next = await openNeighbour(base)
  const [seconds, rounds] = isLong ? [12, 3] : [2, 1]
  const measure = () => measureReplies(next, { perSecond: PER_SECOND, seconds, random })
  const results = []
  for await (const { name, maxRatio, flood } of openFloods(base, { isLong, progress, names })) {
    const [alone, beside, flooding] = [[], [], newReplies()]
    for (let round = 1; round <= rounds; round++) {
      progress(`${name}: round ${round} of ${rounds}, the neighbour alone`)
      alone.push(await measure())
      progress(`${name}: round ${round} of ${rounds}, the neighbour beside the flood`)
      const stop = await flood.start(flooding.note)
      beside.push(await measure())
      progress(`${name}: round ${round} of ${rounds}, waiting for the end of the flood`)
      await stop()
    }
    flood.close?.()
    const [quiet, flooded] = [summarize(alone), summarize(beside)]
    const ratio = flooded.p99 / quiet.p99
    results.push({
      name,
      alone: quiet,
      beside: flooded,
      ratio,
      maxRatio,
      flood: summarize([flooding]),
    })
  }
  return results
}

/** The statuses of all rounds together, and the medians of the rounds' percentiles. */
function summarize(rounds) {
  const statuses = {}
  for (const round of rounds)
    for (const [status, count] of Object.entries(round.statuses))
      statuses[status] = (statuses[status] ?? 0) + count
  const quantile = (share) =>
    median(
      rounds.map(
        ({ times }) =>
          times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? Number.NaN,
      ),
    )
  return { statuses, p50: quantile(0.5), p99: quantile(0.99) }
}

/** The times are those of successes. */
function newReplies() {
  const [statuses, times] = [{}, []]
  const note = ({ status, elapsedMs }) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status >= 200 && status < 300) times.push(elapsedMs)
  }
  return { statuses, times, note }
}

/** Sends at a fixed rate, with jitter. */
async function measureReplies(next, { perSecond, seconds, random }) {
  const replies = newReplies()
  await runOpenLoop({ perSecond, seconds, next, onReply: replies.note, random })
  return replies
}

/** Reports of one location, last locations and lists, in turn. */
async function openNeighbour(base) {
  const { call, headers, device } = await openTenant(base, 'neighbour')
  const nextTime = timesSince(1)
  const nextReport = () => ({ dateTime: nextTime(), latitude: 38.7, longitude: -9.1 })
  // The runtime closes a connection whose large body it refused, with the next request on it: those
  // of the flood are not the neighbour's.
  const agent = openConnections()
  await call('POST', `${device}/locations`, nextReport())
  let turn = 0
  return () => {
    const kind = turn++ % 3
    if (kind === 0)
      return sendTimed(base, {
        method: 'POST',
        path: `${device}/locations`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(nextReport()),
        agent,
      })
    const path = kind === 1 ? `${device}/lastLocation` : '/api/devices?limit=20'
    return sendTimed(base, { method: 'GET', path, headers, agent })
  }
}
