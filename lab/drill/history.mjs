import { strict as assert } from 'node:assert'
import { caller, send } from '../harness/http.mjs'
import { createDevice, openFleet } from './fleet.mjs'

const HOUR_MS = 3_600_000
const MAX_SWEEPS = 10

/** The first instant of the month before the last half year. */
function oldMonth() {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 6)
}

/** Moves a month of an account to the bucket, and reads it from there. Returns the account. */
export async function readMonthFromBucket({ base, server, databases: [database] }, step) {
  const fleet = await openFleet(base, 'history', 0)
  const call = caller(base, fleet.token)
  const { id } = await createDevice(fleet, 'Albatross')
  const start = oldMonth()
  const locations = Array.from({ length: 600 }, (_, index) => ({
    dateTime: new Date(start + index * HOUR_MS).toISOString(),
    latitude: 38 + index / 1000,
    longitude: -9 - Math.sin(index / 20) / 10,
    attributes: { index },
  }))
  await call('POST', `/api/devices/${id}/locations`, { locations })
  const span = `from=${locations[0].dateTime}&to=${locations.at(-1).dateTime}`
  const read = async () => ({
    list: await call('GET', `/api/devices/${id}/locations?${span}&limit=1000`),
    trips: await call(
      'GET',
      `/api/devices/${id}/trips?from=${locations[0].dateTime}&to=${locations[300].dateTime}`,
    ),
    export: await (
      await fetch(`${base}/api/devices/${id}/locations?${span}&format=gpx`, {
        headers: { Authorization: `Bearer ${fleet.token}` },
      })
    ).text(),
  })
  const before = await read()
  assert.equal(before.list.locations.length, 600)
  const month = new Date(start).toISOString().slice(0, 7)
  const findMonth = () =>
    database
      .prepare('SELECT * FROM archived_months WHERE account_id = ? AND month = ?')
      .bind(fleet.id, month)
      .first()
  let moved = null
  for (let sweeps = 0; sweeps < MAX_SWEEPS && moved?.next_group !== null; sweeps++) {
    await send(base, '/cdn-cgi/local/scheduled', { timeoutMs: 60_000 })
    moved = await findMonth()
  }
  assert.equal(moved?.next_group, null, 'the month has moved')
  assert.equal(moved.locations, 600)
  const bucket = await server.getR2Bucket('HISTORY')
  assert.equal((await bucket.head(moved.object))?.size, moved.bytes)
  const { left } = await database
    .prepare(
      'SELECT count(*) AS left FROM locations WHERE time BETWEEN ? AND ? AND device_key = (SELECT key FROM devices WHERE id = ?)',
    )
    .bind(start, start + 600 * HOUR_MS, id)
    .first()
  assert.equal(left, 0)
  assert.deepEqual(await read(), before)
  step(`${moved.locations} locations of ${month} are one object of ${moved.bytes} bytes`)
  step('list, trips and export are the same as before')
  return fleet
}
