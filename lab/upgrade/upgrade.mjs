// npm run upgrade:check
// Runs this release and the previous one beside each other, as they run for minutes during a deploy.
import { strict as assert } from 'node:assert'
import { rmSync } from 'node:fs'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { startMessageProvider } from '../chaos/messageProvider.mjs'
import { caller, getToken, listAll, openAccount, send } from '../harness/http.mjs'

await useToolchain()
const { adminToken, bundle, serve, temporaryFolder } = await import('../harness/server.mjs')
const { buildPreviousRelease, findPreviousRelease, PREVIOUS_RELEASE } = await import(
  './previousRelease.mjs'
)
const { addPeople, doDaysWork, openAndErase, sweep } = await import('./daysWork.mjs')

if (!findPreviousRelease()) {
  console.log(`Skipped: this clone has no commit ${PREVIOUS_RELEASE}, and cannot fetch it`)
  process.exit(0)
}

const previous = buildPreviousRelease()
const current = { script: bundle(), migrations: 'migrations' }
const folder = temporaryFolder()
const CELLS = 2
const provider = await startMessageProvider()

const step = (text) => console.log(`  ${text}`)
async function withReleases({ worker, objects, schema = current }, run) {
  const { script } = worker
  const { migrations } = schema
  const options = { script, objects: objects.script, migrations, folder, cells: CELLS }
  const server = await serve({ ...options, vars: provider.vars, triggers: true })
  try {
    return await run(server.base, caller(server.base, adminToken))
  } finally {
    await server.stop()
  }
}

/** The reply to a request that an object of the previous release cannot do. */
async function assertNotYet(base, token, [method, path, body]) {
  const reply = await send(base, path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const what = `${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`
  assert.equal(reply.status, 503, what)
  assert.match(reply.headers['content-type'], /^application\/problem\+json/, what)
  assert.match(JSON.parse(reply.text).detail, /new release/, what)
  assert.ok(Number(reply.headers['retry-after']) >= 30, what)
}

console.log('The previous release')
const devices = []
const account = await withReleases(
  { worker: previous, objects: previous, schema: previous },
  async (base, operate) => {
    const opened = await openAccount(base, adminToken, {
      userName: 'harbour',
      licenses: 20,
      cell: 0,
    })
    await addPeople(opened.call)
    devices.push(await doDaysWork(base, opened, { name: 'Tern', provider }))
    const late = await openAccount(base, adminToken, { userName: 'late', licenses: 5, cell: 0 })
    await operate('PATCH', `/admin/accounts/${late.id}`, { disabled: true })
    return { ...opened, late }
  },
)
const late = account.late
step('an account with a device, a track and an emergency; a second one is disabled')

console.log('The previous Worker on the new schema')
await withReleases({ worker: previous, objects: previous }, async (base, operate) => {
  devices.push(await doDaysWork(base, account, { name: 'Gull', provider }))
  await openAndErase(base, 'short')
  step('opens, reports, raises and sends, edits, deletes, sweeps and erases')
  for (const disabled of [false, true]) {
    await operate('PATCH', `/admin/accounts/${late.id}`, { disabled })
    const { accounts } = await operate('GET', '/admin/accounts')
    assert.equal(accounts.find(({ id }) => id === late.id).disabled, disabled)
  }
  step('enables and disables an account')
})

console.log('The new Worker with objects of the previous release')
await withReleases({ worker: current, objects: previous }, async (base, operate) => {
  devices.push(await doDaysWork(base, account, { name: 'Petrel', provider }))
  await openAndErase(base, 'shorter')
  step('opens, reports, raises and sends, edits, deletes, sweeps and erases')

  const read = async (id) => (await operate('GET', `/admin/accounts/${id}`)).account
  const { version } = await read(account.id)
  const opening = { userName: 'trial', name: 'Trial', timeZone: 'UTC', sandbox: true }
  const refused = [
    ['POST', '/admin/accounts', opening],
    ['POST', `/admin/accounts/${account.id}/keep`],
  ]
  for (const request of refused) await assertNotYet(base, adminToken, request)
  const token = await getToken(base, account.userName, account.apiKey)
  await assertNotYet(base, token, ['POST', '/api/account/sandbox', {}])
  assert.equal((await read(account.id)).version, version, 'a refused change has changed something')
  step(`${refused.length + 1} requests that such an object cannot do are 503, and change nothing`)
})

console.log('The previous Worker with new objects')
await withReleases({ worker: previous, objects: current }, async (base, operate) => {
  devices.push(await doDaysWork(base, account, { name: 'Skua', provider }))
  for (const disabled of [false, true]) {
    const { account: changed } = await operate('PATCH', `/admin/accounts/${late.id}`, { disabled })
    assert.equal(changed.disabled, disabled)
  }
  step('opens, reports, raises and sends, edits, deletes and sweeps; disables an account')
})

console.log('The new release')
await withReleases({ worker: current, objects: current }, async (base, operate) => {
  devices.push(await doDaysWork(base, account, { name: 'Auk', provider }))
  const call = caller(base, await getToken(base, account.userName, account.apiKey))
  const found = await listAll(call, '/api/devices', 'devices')
  assert.deepEqual(found.map(({ id }) => id).sort(), devices.map(({ id }) => id).sort())
  for (const { id } of devices)
    assert.equal((await listAll(call, `/api/devices/${id}/locations`, 'locations')).length, 2)
  step('has every device and location of all four')

  await call('DELETE', `/api/devices/${devices[0].id}`)
  await call('POST', `/api/devices/${devices[0].id}/restore`)
  const path = `/admin/accounts/${account.id}`
  await operate('PATCH', path, { status: 'ingestOnly' })
  await operate('PATCH', path, { status: 'active' })
  await operate('DELETE', path)
  await operate('POST', `${path}/undelete`)
  assert.equal((await operate('GET', `/admin/accounts/${late.id}`)).account.status, 'disabled')
  await operate('PATCH', `/admin/accounts/${late.id}`, { status: 'active' })
  assert.equal((await operate('GET', `/admin/accounts/${late.id}`)).account.status, 'active')
  await sweep(base)
  step('suspends, deletes and brings back what the previous one has made')
})
provider.close()
rmSync(previous.folder, { recursive: true })
rmSync(folder, { recursive: true })
console.log('5 passed, 0 failed')
