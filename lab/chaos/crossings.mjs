import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../harness/http.mjs'
import { countEntries, crossingsFrom, placeAt, undecidedAt } from './zone.mjs'

const FERRIES = 4
const CLIENTS = 8
const MIN_FIXES = 60
/** Of each device and kill: enough that every kill meets reports. */
const FIXES_PER_KILL = 20
/** Locations may be ten minutes ahead. */
const SPAN_MS = 540_000
const REPLY_TIMEOUT_MS = 60_000
const DELIVERY_TIMEOUT_MS = 300_000

/**
 * Devices that go in and out of a zone. Their locations come in any order, in parallel, in every way
 * there is, and often twice, while the server is killed again and again.
 */
export async function runCrossings({ server, account, kills, random, progress }) {
  const { call, token } = account
  const { url } = await call('POST', '/api/sources', { name: 'Ferries', provider: 'osmand' })
  const ferries = await createFerries(call, random, Math.max(MIN_FIXES, kills * FIXES_PER_KILL))
  const left = shuffle(
    ferries.flatMap((ferry) => ferry.fixes.map((fix) => ({ ferry, fix }))),
    random,
  )
  const run = { sent: 0, unanswered: 0 }
  let restarted = Promise.resolve()

  const deliver = async (some) => {
    const sent = { token, path: new URL(url).pathname, random }
    const replies = await Promise.all(
      requestsOf(some, sent).map((request) =>
        send(server.base, request.path, {
          ...request,
          reuseConnection: false,
          timeoutMs: REPLY_TIMEOUT_MS,
        }).catch(() => null),
      ),
    )
    run.sent += replies.length
    const refused = replies.find((reply) => reply && reply.status !== 503 && reply.status >= 300)
    if (refused) throw new Error(`a crossing got ${refused.status} ${refused.text}`)
    return replies.every((reply) => reply && reply.status < 300)
  }
  const deadline = Date.now() + DELIVERY_TIMEOUT_MS
  const client = async () => {
    while (left.length > 0) {
      if (Date.now() > deadline) throw new Error('the crossings were never all answered')
      await restarted
      const some = left.splice(0, random.int(1, 5))
      const isAnswered = await deliver(some)
      if (!isAnswered) run.unanswered++
      if (!isAnswered || random.chance(0.15)) left.splice(random.int(0, left.length), 0, ...some)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  const all = left.length
  for (let kill = 1; kill <= kills; kill++) {
    // Spread over the whole run, so that no kill meets an idle server.
    const wanted = all * (1 - kill / (kills + 1))
    while (left.length > wanted && Date.now() < deadline) await sleep(5)
    restarted = server.kill().then(() => server.start())
    await restarted
    progress(`${kill} of ${kills} kills, ${left.length} locations left`)
  }
  await clients
  return {
    ...run,
    devices: ferries.map(({ id, name, fixes }) => ({ id, name, expected: countEntries(fixes) })),
  }
}

const createFerries = (call, random, count) =>
  Promise.all(
    Array.from({ length: FERRIES }, async (_, number) => {
      const name = `Ferry ${number}`
      const identifier = `ferry-${number}`
      const record = { name, identifier, maxSpeed: 0, limits: { expires: false } }
      const { device } = await call('POST', '/api/devices', record)
      return { id: device.id, name, identifier, fixes: createFixes(random, count) }
    }),
  )

/** In order of time. */
function createFixes(random, count) {
  const step = Math.floor(SPAN_MS / count)
  return Array.from({ length: count }, (_, index) => {
    const dateTime = new Date(crossingsFrom() + index * step).toISOString()
    return random.chance(0.15) ? undecidedAt(dateTime) : placeAt(dateTime, random.chance(0.5))
  })
}

/** The same locations as one mixed report, as reports of each device, or as pushes of a source. */
function requestsOf(some, { token, path, random }) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const way = random.int(0, 2)
  if (way === 0)
    return some.map(({ ferry, fix }) => ({
      path: `${path}?${new URLSearchParams({
        id: ferry.identifier,
        lat: fix.latitude,
        lon: fix.longitude,
        timestamp: Date.parse(fix.dateTime),
        ...(fix.accuracy !== undefined && { accuracy: fix.accuracy }),
      })}`,
    }))
  if (way === 1)
    return [...Map.groupBy(some, ({ ferry }) => ferry)].map(([{ id }, own]) => ({
      method: 'POST',
      path: `/api/devices/${id}/locations`,
      headers,
      body: JSON.stringify(own.map(({ fix }) => fix)),
    }))
  const locations = some.map(({ ferry, fix }) => ({
    ...(random.chance(0.5) ? { deviceId: ferry.id } : { identifier: ferry.identifier }),
    ...fix,
  }))
  return [{ method: 'POST', path: '/api/locations', headers, body: JSON.stringify({ locations }) }]
}

function shuffle(list, random) {
  for (let index = list.length - 1; index > 0; index--) {
    const other = random.int(0, index)
    ;[list[index], list[other]] = [list[other], list[index]]
  }
  return list
}
