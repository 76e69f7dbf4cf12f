import { strict as assert } from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeDifferences, readAccountState } from '../harness/accountState.mjs'
import { caller, listAll, send } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'
import { createDevice, openFleet } from './fleet.mjs'

const STEP_TIMEOUT_MS = 60_000
const RETRY_MS = 100

/** Moves an account from cell 0 to cell 1 while a device of it reports. */
export async function moveToOtherCell(start, step) {
  const first = await start()
  const fleet = await openFleet(first.base, 'moving', 0)
  const [reporting, quiet] = [await createDevice(fleet, 'Shag'), await createDevice(fleet, 'Knot')]
  await fleet.call('POST', '/api/groups', { name: 'All', devices: [reporting.id, quiet.id] })
  const before = await readAccountState(fleet.call)
  const reports = startReporting(first.base, fleet, reporting.id)
  const path = `/admin/accounts/${fleet.id}/move`
  const readMove = async (base) => (await caller(base, adminToken)('GET', path)).move
  await caller(first.base, adminToken)('POST', path, { cell: 1 })
  await waitFor(async () => (await readMove(first.base)).step === 'erasing')
  await sleep(5 * RETRY_MS)
  const { statuses, accepted } = await reports.stop()
  const { frozenMs, copied, caughtUp } = await readMove(first.base)
  const switched = await readAccountState(fleet.call)
  for (const part of ['/api/account/licenses/log', '/api/groups', trackOf(quiet)])
    assert.deepEqual(switched[part], before[part], part)
  await first.stop()
  const refused = statuses.filter((status) => status === 503).length
  assert.ok(
    statuses.every((status) => status === 201 || status === 503),
    statuses.join(' '),
  )
  step(
    `${copied} rows copied and ${caughtUp} again while ${accepted} reports arrived; ` +
      `${refused} of them were first refused, in a freeze of ${frozenMs} ms`,
  )

  // A new process has nothing cached, as after the minute for which the old rows stay.
  const second = await start()
  const [old] = second.databases
  await old.prepare(`UPDATE moves SET position = json_set(position, '$.switchedAt', 1)`).run()
  await waitFor(async () => {
    await send(second.base, '/cdn-cgi/local/scheduled', { timeoutMs: STEP_TIMEOUT_MS })
    return (await readMove(second.base)).step === 'done'
  })
  const { corrected, verified } = await readMove(second.base)
  assert.equal(corrected, 0)
  const { left } = await old
    .prepare('SELECT count(*) AS left FROM devices WHERE account_id = ?')
    .bind(fleet.id)
    .first()
  assert.equal(left, 0)
  const call = caller(second.base, fleet.token)
  assert.deepEqual(describeDifferences(switched, await readAccountState(call)), [])
  const track = await listAll(call, trackOf(reporting), 'locations')
  assert.equal(track.length, 5 + accepted)
  const sequences = (await listAll(call, '/api/events', 'events')).map(({ sequence }) => sequence)
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => index + 1),
  )
  await second.stop()
  step(`${verified} rows compared, none differed; the old rows are deleted, every report is there`)
}

const trackOf = ({ id }) => `/api/devices/${id}/locations`

/** Reports without pause. A refused report is sent again. */
function startReporting(base, { token }, id) {
  let isRunning = true
  const statuses = []
  const reportOne = async (number) => {
    const dateTime = new Date(Date.now() - 3_600_000 + number * 1000).toISOString()
    const options = {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ dateTime, latitude: 38.7, longitude: -9.1 }),
    }
    const deadline = Date.now() + STEP_TIMEOUT_MS
    while (Date.now() < deadline) {
      const { status } = await send(base, trackOf({ id }), options)
      statuses.push(status)
      if (status !== 503) return
      await sleep(RETRY_MS)
    }
  }
  const done = (async () => {
    for (let number = 1; isRunning; number++) await reportOne(number)
  })()
  return {
    async stop() {
      isRunning = false
      await done
      return { statuses, accepted: statuses.filter((status) => status === 201).length }
    },
  }
}

async function waitFor(check) {
  const deadline = Date.now() + STEP_TIMEOUT_MS
  while (!(await check())) {
    assert.ok(Date.now() < deadline, 'the move did not go on')
    await sleep(RETRY_MS)
  }
}
