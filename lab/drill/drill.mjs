// npm run drill
// Rehearses the restore on its own local data: export, lose, import, reconcile, compare. Then
// moves an account, among other things that an operator does.
import { strict as assert } from 'node:assert'
import { cpSync } from 'node:fs'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { caller, listAll } from '../harness/http.mjs'

await useToolchain()
const { bundle, serve, temporaryFolder } = await import('../harness/server.mjs')
const { describeDifferences, readAccountState } = await import('../harness/accountState.mjs')
const { copyLedgers, exportDatabases, importDatabases, restoreLedgers } = await import(
  './backup.mjs'
)
const { moveToInstallation } = await import('./archive.mjs')
const { readMonthFromBucket } = await import('./history.mjs')
const { moveToOtherCell } = await import('./move.mjs')
const { bringBack } = await import('./undelete.mjs')
const { changeFleet, createDevice, openFleet, reconcile, report } = await import('./fleet.mjs')

const CELLS = 2
const script = bundle()
const folder = temporaryFolder()
const backup = temporaryFolder()
const afterChanges = temporaryFolder()

const step = (text) => console.log(`  ${text}`)
const withServer = async (run) => {
  const server = await serve({ script, folder, cells: CELLS })
  try {
    return await run(server.base)
  } finally {
    await server.stop()
  }
}
/** The fleet with calls to a server that was started since. */
const connect = (base, fleet) => ({ ...fleet, call: caller(base, fleet.token) })

console.log('Backup')
const { fleets, statesAtBackup } = await withServer(async (base) => {
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
  return { fleets: opened, statesAtBackup: await readStates(opened) }
})
exportDatabases(folder, CELLS, backup)
copyLedgers(folder, backup)
step('two accounts in two cells: databases exported by wrangler, ledgers copied')

const { latestStates, newest } = await withServer(async (base) => {
  const connected = fleets.map((fleet) => connect(base, fleet))
  for (const fleet of connected) await changeFleet(fleet, fleet.devices)
  const opened = await openFleet(base, 'newest', 1)
  opened.devices = [await createDevice(opened, 'Fulmar')]
  return { latestStates: await readStates([...connected, opened]), newest: opened }
})
cpSync(`${folder}/.wrangler`, `${afterChanges}/.wrangler`, { recursive: true })
step(
  'then devices created, edited, expired and deleted, locations reported, a third account opened',
)

console.log('The databases are lost; the ledgers are kept')
importDatabases(folder, CELLS, backup)
await withServer(async (base) => {
  const connected = [...fleets, newest].map((fleet) => connect(base, fleet))
  const { mended, unknown } = await reconcile(base, {
    cells: CELLS,
    accountIds: connected.map(({ id }) => id),
    restored: true,
  })
  assert.deepEqual(unknown, [])
  step(`reconcile: ${describeMended(mended)}`)
  const states = await readStates(connected.slice(0, 2))
  for (const [index, state] of states.entries()) {
    assert.deepEqual(ledgerPart(state), ledgerPart(latestStates[index]))
    const kept = fleets[index].devices[3]
    assert.equal(state[`/api/devices/${kept.id}/locations`].length, 5)
  }
  step(
    'account, devices, licenses and their log are the latest; ' +
      'tracks and groups are those of the backup',
  )
  await assertWorking(connected.slice(0, 2))
  const again = await reconcile(base, { cells: CELLS, restored: false })
  assert.deepEqual(again, { unknown: [], mended: {} })
  step('new requests succeed, and a second reconcile finds nothing')
})

console.log('Everything is lost')
importDatabases(folder, CELLS, backup)
restoreLedgers(folder, backup)
await withServer(async (base) => {
  const connected = fleets.map((fleet) => connect(base, fleet))
  const { mended } = await reconcile(base, { cells: CELLS, restored: true })
  assert.deepEqual(Object.keys(mended), ['events'])
  const states = await readStates(connected)
  for (const [index, state] of states.entries()) {
    const before = withoutEvents(statesAtBackup[index])
    assert.deepEqual(describeDifferences(before, withoutEvents(state)), [])
  }
  await assertWorking(connected)
  step('databases and ledgers are those of the backup, and new requests succeed')
})

console.log('The ledgers are set back; the databases are kept')
cpSync(`${afterChanges}/.wrangler`, `${folder}/.wrangler`, { recursive: true, force: true })
restoreLedgers(folder, backup)
await withServer(async (base) => {
  const connected = fleets.map((fleet) => connect(base, fleet))
  const { mended, unknown } = await reconcile(base, { cells: CELLS, restored: true })
  assert.deepEqual(unknown, [newest.id])
  step(`reconcile: ${describeMended(mended)}; the account opened since has no ledger and is named`)
  const states = await readStates(connected)
  for (const [index, state] of states.entries())
    assert.deepEqual(ledgerPart(state), ledgerPart(statesAtBackup[index]))
  await assertWorking(connected)
  for (const fleet of connected) {
    const device = await createDevice(fleet, 'After')
    const track = await listAll(fleet.call, `/api/devices/${device.id}/locations`, 'locations')
    assert.equal(track.length, 5, 'a new device has only its own locations')
  }
  assert.deepEqual((await reconcile(base, { cells: CELLS, restored: false })).mended, {})
  step(
    'account, devices and licenses are those of the backup; ' +
      'devices created since are gone, and no device has their tracks',
  )
})

console.log('A device and an account are deleted and brought back')
await withServer((base) => bringBack(base, step))

console.log('A month is read from R2')
const historyServer = await serve({ script, folder: temporaryFolder(), triggers: true })
const otherServer = await serve({ script, folder: temporaryFolder(), cells: CELLS })
try {
  const fleet = await readMonthFromBucket(historyServer, step)
  console.log('An account is taken to another installation')
  const opened = await openFleet(historyServer.base, 'east', 0)
  await createDevice(opened, 'Dunlin')
  await moveToInstallation(
    {
      from: historyServer.base,
      to: otherServer.base,
      accountIds: [fleet.id, opened.id],
      folder: temporaryFolder(),
    },
    step,
  )
} finally {
  await historyServer.stop()
  await otherServer.stop()
}

console.log('An account moves to another cell')
const movingFolder = temporaryFolder()
await moveToOtherCell(
  () => serve({ script, folder: movingFolder, cells: CELLS, triggers: true }),
  step,
)
console.log('7 passed, 0 failed')

/** Not what was used of the budgets: the cell counts it, and what is lost with it is not used. */
async function readStates(connected) {
  const states = await Promise.all(connected.map(({ call }) => readAccountState(call)))
  for (const state of states) delete state['/api/account'].account.budgetUsage
  return states
}

/** What the ledger decides. Groups, locations and contacts belong to the cell. */
function ledgerPart(state) {
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

/**
 * An edit can be read back; a device can be created, report and be deleted; the license count is
 * right.
 */
async function assertWorking(connected) {
  for (const fleet of connected) {
    const [device] = fleet.devices
    const name = `Renamed ${Date.now()}`
    await fleet.call('PATCH', `/api/devices/${device.id}`, { name })
    assert.equal((await fleet.call('GET', `/api/devices/${device.id}`)).device.name, name)
    const temporary = await createDevice(fleet, 'Temporary')
    await report(fleet, temporary.id, 1)
    await fleet.call('DELETE', `/api/devices/${temporary.id}`)
    const { account } = await fleet.call('GET', '/api/account')
    const active = await listAll(fleet.call, '/api/devices?state=active', 'devices')
    assert.equal(account.licenses.used, active.length)
  }
}

function describeMended(mended) {
  const parts = Object.entries(mended).map(([name, count]) => `${count} ${name}`)
  return parts.length > 0 ? `mended ${parts.join(', ')}` : 'nothing to mend'
}
