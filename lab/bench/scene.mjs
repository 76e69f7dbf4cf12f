import { cpSync } from 'node:fs'
import { caller } from '../harness/http.mjs'
import { adminToken, bundle, serve, temporaryFolder } from '../harness/server.mjs'
import { onTheWire, REPORTS_START } from './bodies.mjs'
import { asker } from './rate.mjs'

/** Neither side serves pages: what is compared is the Worker. */
const assets = false
const USER = {
  name: 'Ana',
  email: 'ana@example.com',
  phone: '+351910000000',
  country: 'PT',
  timeZone: 'UTC',
  notify: { email: true, sms: true },
}
const LIMITS = { dailyEmailLimit: 100_000, dailySmsLimit: 100_000 }

/** The API and the bare Worker, each on its own copy of the same data. */
export async function setScene(script = bundle()) {
  const [folder, copy] = [temporaryFolder(), temporaryFolder()]
  const first = await serve({ script, folder, assets })
  const scene = await fill(first.base)
  await first.stop()
  cpSync(`${folder}/.wrangler`, `${copy}/.wrangler`, { recursive: true })
  const [api, bare] = [
    await serve({ script, folder, assets }),
    await serve({ script: bundle({ config: 'lab/bench/bare.toml' }), folder: copy, assets }),
  ]
  return {
    ...scene,
    api: asker(api.base, { Authorization: `Bearer ${scene.token}` }),
    open: asker(api.base),
    bare: asker(bare.base),
    stop: () => Promise.all([api.stop(), bare.stop()]),
  }
}

async function fill(base) {
  const opening = { userName: 'bench', name: 'Bench', licenses: 1_000_000, timeZone: 'UTC' }
  const { account, apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', opening)
  const { token } = await caller(base)('POST', '/api/Auth/Token', { userName: 'bench', apiKey })
  const call = caller(base, token)
  await call('PATCH', '/api/account', { retentionDays: 3650 })
  const made = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      call('POST', '/api/devices', { name: `Tern ${index}`, limits: LIMITS }),
    ),
  )
  const devices = made.map(({ device }) => device.id)
  const minutes = (count) =>
    Array.from({ length: count }, (_, index) => REPORTS_START - 86_400_000 + index * 60_000)
  for (const id of devices)
    await call('POST', `/api/devices/${id}/locations`, JSON.parse(onTheWire(minutes(1))))
  const [historied] = devices
  await call('POST', `/api/devices/${historied}/locations`, JSON.parse(onTheWire(minutes(1000))))
  await call('POST', '/api/users', USER)
  const groups = []
  for (let index = 0; index < 20; index++) {
    const { id } = await call('POST', '/api/groups', {
      name: `Group ${index}`,
      devices: devices.slice(index * 10, index * 10 + 10),
    })
    groups.push(id)
  }
  return {
    accountId: account.id,
    apiKey,
    keyId: `key_${apiKey.split('_')[1]}`,
    token,
    devices,
    historied,
    groups,
  }
}
