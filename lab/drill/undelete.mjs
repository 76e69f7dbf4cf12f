import { strict as assert } from 'node:assert'
import { describeDifferences, readAccountState } from '../harness/accountState.mjs'
import { caller, getToken, listAll } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'
import { createDevice, openFleet } from './fleet.mjs'

/** What an account can read, but for its own deletion and what was used. */
const readState = async (call) => {
  const { '/api/account/audit': _, ...state } = await readAccountState(call)
  delete state['/api/account'].account.budgetUsage
  delete state['/api/account'].account.lastModified
  return state
}

/** Deletes a device, then the account, and brings both back. */
export async function bringBack(base, step) {
  const { id, userName, apiKey, token } = await openFleet(base, 'undelete', 1)
  const call = caller(base, token)
  const callAsOperator = caller(base, adminToken)
  const fleet = { call }
  const devices = [await createDevice(fleet, 'Knot'), await createDevice(fleet, 'Ruff')]
  const track = `/api/devices/${devices[0].id}/locations`
  const tracked = await call('GET', track)
  await call('DELETE', `/api/devices/${devices[0].id}`)
  await assert.rejects(call('GET', track), /404/)
  await call('POST', `/api/devices/${devices[0].id}/restore`)
  assert.deepEqual(await call('GET', track), tracked)
  step('a deleted device is back with its track')

  const before = await readState(call)
  await callAsOperator('DELETE', `/admin/accounts/${id}`)
  await assert.rejects(call('GET', '/api/devices'), /401/)
  await assert.rejects(getToken(base, userName, apiKey), /401/)
  const opening = { userName, name: 'Another', licenses: 1, timeZone: 'UTC', cell: 0 }
  await assert.rejects(callAsOperator('POST', '/admin/accounts', opening), /409/)
  step('a deleted account is unreachable, and its user name stays taken in every cell')

  await callAsOperator('POST', `/admin/accounts/${id}/undelete`)
  assert.deepEqual(describeDifferences(before, await readState(call)), [])
  const last = before['/api/events'].at(-1).sequence
  await createDevice(fleet, 'Sanderling')
  const events = await listAll(call, '/api/events', 'events')
  assert.equal(events[before['/api/events'].length].sequence, last + 1)
  step('after undelete everything reads as before, licenses included, and events count on')
}
