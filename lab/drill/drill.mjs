// The restore, rehearsed on local data of its own: export, destroy, import, reconcile, compare. `npm run drill`
import { strict as assert } from 'node:assert'
import { cpSync } from 'node:fs'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { caller } from '../harness/http.mjs'

await useToolchain()
const { bundle, serve, temporaryFolder } = await import('../harness/server.mjs')
const { differences, readState, walk } = await import('../harness/state.mjs')
const { copyLedgers, exportDatabases, importDatabases, putBackLedgers } = await import(
  './backup.mjs'
)
const { createDevice, openFleet, reconcile, report, work } = await import('./fleet.mjs')

const CELLS = 2
const script = bundle()
const folder = temporaryFolder()
const backup = temporaryFolder()
const later = temporaryFolder()

const step = (text) => console.log(`  ${text}`)
const on = async (data, deeds) => {
  const server = await serve({ script, folder: data, cells: CELLS })
  try {
    return await deeds(server.base)
  } finally {
    await server.stop()
  }
}
/** A fleet as it is called at a server that was started since. */
const at = (base, fleet) => ({ ...fleet, call: caller(base, fleet.token) })

console.log('Backup')
const { fleets, first } = await on(folder, async (base) => {
  const opened = [await openFleet(base, 'north', 0), await openFleet(base, 'south', 1)]
  for (const fleet of opened) {
    fleet.devices = []
    for (const name of ['Tern', 'Gull', 'Petrel', 'Skua', 'Auk'])
      fleet.devices.push(await createDevice(fleet, name))
    await fleet.call('POST', '/api/groups', {
      name: 'All',
      devices: fleet.devices.map(({ id }) => id),
    })
  }
  return { fleets: opened, first: await statesOf(opened) }
})
exportDatabases(folder, CELLS, backup)
copyLedgers(folder, backup)
step('two accounts in two cells: databases exported by wrangler, ledgers copied')

const { second, newest } = await on(folder, async (base) => {
  const here = fleets.map((fleet) => at(base, fleet))
  for (const fleet of here) await work(fleet, fleet.devices)
  const opened = await openFleet(base, 'newest', 1)
  opened.devices = [await createDevice(opened, 'Fulmar')]
  return { second: await statesOf([...here, opened]), newest: opened }
})
cpSync(`${folder}/.wrangler`, `${later}/.wrangler`, { recursive: true })
step('and a day of work since: devices made, edited, expired, deleted, tracks, a further account')

console.log('The databases are lost; the ledgers stand')
importDatabases(folder, CELLS, backup)
await on(folder, async (base) => {
  const here = [...fleets, newest].map((fleet) => at(base, fleet))
  const { mended, unknown } = await reconcile(
    base,
    CELLS,
    here.map(({ id }) => id),
    true,
  )
  assert.deepEqual(unknown, [])
  step(`reconcile: ${told(mended)}`)
  const states = await statesOf(here.slice(0, 2))
  for (const [index, state] of states.entries()) {
    assert.deepEqual(decided(state), decided(second[index]))
    const kept = fleets[index].devices[3]
    assert.equal(state[`/api/devices/${kept.id}/locations`].length, 5)
  }
  step(
    'account, devices, licenses and their log are what they were at the last moment; tracks and groups what they were at the backup',
  )
  await assertAlive(here.slice(0, 2))
  assert.deepEqual(await reconcile(base, CELLS, [], false), { unknown: [], mended: {} })
  step('new work is taken, and a second reconcile finds nothing')
})

console.log('Everything is lost')
importDatabases(folder, CELLS, backup)
putBackLedgers(folder, backup)
await on(folder, async (base) => {
  const here = fleets.map((fleet) => at(base, fleet))
  const { mended } = await reconcile(base, CELLS, [], true)
  assert.deepEqual(Object.keys(mended), ['events'])
  const states = await statesOf(here)
  for (const [index, state] of states.entries())
    assert.deepEqual(differences(withoutEvents(first[index]), withoutEvents(state)), [])
  await assertAlive(here)
  step('both sides come back as they were at the backup, and new work is taken')
})

console.log('The ledgers are set back; the databases stand')
cpSync(`${later}/.wrangler`, `${folder}/.wrangler`, { recursive: true, force: true })
putBackLedgers(folder, backup)
await on(folder, async (base) => {
  const here = fleets.map((fleet) => at(base, fleet))
  const { mended, unknown } = await reconcile(base, CELLS, [], true)
  assert.deepEqual(unknown, [newest.id])
  step(
    `reconcile: ${told(mended)}; the account that was opened since has no ledger any more, and is named`,
  )
  const states = await statesOf(here)
  for (const [index, state] of states.entries())
    assert.deepEqual(decided(state), decided(first[index]))
  await assertAlive(here)
  for (const fleet of here) {
    const device = await createDevice(fleet, 'After')
    const track = await walk(fleet.call, `/api/devices/${device.id}/locations`, 'locations')
    assert.equal(track.length, 5, 'a new device begins with a track of its own')
  }
  assert.deepEqual((await reconcile(base, CELLS, [], false)).mended, {})
  step(
    'account, devices and licenses are what they were at the backup; what was made since is gone from both sides, its track is nobody’s',
  )
})
console.log('3 passed, 0 failed')

function statesOf(all) {
  return Promise.all(all.map(({ call }) => readState(call)))
}

/** What the ledger decides: the same on both sides whatever was restored. Groups, tracks and contacts are the cell's. */
function decided(state) {
  const {
    '/api/account': account,
    '/api/devices': devices,
    '/api/account/licenses/log': log,
  } = state
  return {
    account,
    devices: devices.map(({ groups, lastLocation, lastContact, ...device }) => device),
    log,
  }
}

function withoutEvents(state) {
  return Object.fromEntries(Object.entries(state).filter(([path]) => path !== '/api/events'))
}

/** Nothing is stuck: an edit shows, a device is granted, reported for and deleted. */
async function assertAlive(all) {
  for (const fleet of all) {
    const [device] = fleet.devices
    const name = `Alive ${Date.now()}`
    await fleet.call('PATCH', `/api/devices/${device.id}`, { name })
    assert.equal((await fleet.call('GET', `/api/devices/${device.id}`)).device.name, name)
    const fresh = await createDevice(fleet, 'Brief')
    await report(fleet, fresh.id, 1)
    await fleet.call('DELETE', `/api/devices/${fresh.id}`)
    const { account } = await fleet.call('GET', '/api/account')
    const active = await walk(fleet.call, '/api/devices?state=active', 'devices')
    assert.equal(account.licenses.used, active.length)
  }
}

function told(mended) {
  const parts = Object.entries(mended).map(([name, count]) => `${count} ${name}`)
  return parts.length > 0 ? `mended ${parts.join(', ')}` : 'nothing to mend'
}
