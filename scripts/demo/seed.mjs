// Fills the demo account. Each step creates only what is missing, so the next start completes one
// that was interrupted.
import { createCheckIns } from './checkIns.mjs'
import { FLEET, GROUPS } from './fleet.mjs'
import { ALERTS, EMERGENCY_SETTINGS, USERS } from './people.mjs'
import { seedSource } from './source.mjs'
import { reportTrack } from './track.mjs'
import { createWatch } from './watch.mjs'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const CONCURRENT_REQUESTS = 6
const FIRST_USER = USERS[0].email

/** The e-mail address that the demo's password belongs to. */
export const DEMO_EMAIL = FIRST_USER

const forEachOf = async (items, work) => {
  const queue = [...items]
  const next = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, next))
}

/**
 * Returns the devices of the demo that exist, with their state. A device that someone deleted
 * after the first start stays deleted.
 */
export async function seedDemo(client, { password, isNewPassword, ensureLicenses }) {
  const { account } = await client.get('/api/account')
  const epoch = Date.parse(account.creation)
  const lastAlert = ALERTS.at(-1).alertName
  const isComplete =
    (await client.get(`/api/alerts?limit=1&alertName=${lastAlert}`)).alerts.length > 0
  if (!isComplete) {
    await ensureLicenses()
    await createDevices(client, account)
  }

  const devices = new Map(
    (await client.list('/api/devices', 'devices')).map((device) => [device.identifier, device]),
  )
  const members = FLEET.flatMap((one) => {
    const device = devices.get(one.identifier)
    if (!device) return []
    const lastAt = Date.parse(device.lastLocation?.dateTime ?? '') || 0
    return [{ ...one, id: device.id, state: device.state, lastAt, epoch }]
  })
  if (!isComplete) {
    const now = Date.now()
    await forEachOf(members, (one) => reportTrack(client, one, now))
    await expireDevice(client, members)
    await createGroups(client, members)
    await createUsers(client, password)
    if ('emergencyContacts' in account) await client.patch('/api/account', EMERGENCY_SETTINGS)
    await seedSource(client, members)
    await createWatch(client, members)
    await createCheckIns(client, members)
    await raiseAlerts(client, members)
  } else if (isNewPassword) await setPassword(client, password)
  return members
}

async function createDevices(client, { timeZone }) {
  const present = new Set(
    (await client.list('/api/devices', 'devices')).map(({ identifier }) => identifier),
  )
  const today = new Intl.DateTimeFormat('en-CA', { timeZone })
  await forEachOf(
    FLEET.filter(({ identifier }) => !present.has(identifier)),
    ({ name, model, identifier, kind, limits, expiresInDays }) =>
      client.post('/api/devices', {
        name,
        model,
        identifier,
        tags: { kind },
        limits: {
          ...limits,
          ...(expiresInDays && {
            expires: true,
            expirationDate: today.format(Date.now() + expiresInDays * DAY_MS),
          }),
        },
      }),
  )
}

/** Ends a device that has a track. What it sends afterwards is refused but moves `lastContact`. */
async function expireDevice(client, members) {
  const one = members.find(({ hasExpired, state }) => hasExpired && state === 'active')
  if (!one) return
  const expirationDate = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10)
  await client.patch(`/api/devices/${one.id}`, { limits: { expires: true, expirationDate } })
  one.state = 'expired'
  await client
    .post(`/api/devices/${one.id}/locations`, {
      dateTime: new Date().toISOString(),
      latitude: one.route[0][0],
      longitude: one.route[0][1],
    })
    .catch((error) => {
      if (error.code !== 'device-expired') throw error
    })
}

async function createGroups(client, members) {
  const present = await client.list('/api/groups', 'groups')
  for (const [name, description] of Object.entries(GROUPS)) {
    const devices = members.filter(({ group }) => group === name).map(({ id }) => id)
    const group = present.find((one) => one.name === name)
    if (!group) await client.post('/api/groups', { name, description, devices })
    else await client.put(`/api/groups/${group.id}`, { name, description, devices })
  }
}

async function createUsers(client, password) {
  const present = new Set((await client.list('/api/users', 'users')).map(({ email }) => email))
  for (const user of USERS) {
    if (present.has(user.email)) continue
    await client.post('/api/users', user.email === FIRST_USER ? { ...user, password } : user)
  }
  if (present.has(FIRST_USER)) await setPassword(client, password)
}

async function setPassword(client, password) {
  const users = await client.list('/api/users', 'users')
  const user = users.find(({ email }) => email === FIRST_USER)
  if (user) await client.patch(`/api/users/${user.id}`, { password })
}

async function raiseAlerts(client, members) {
  const raised = await client.list('/api/alerts', 'alerts')
  for (const { device, hoursAgo, steps = [], ...about } of ALERTS) {
    const deviceId = members.find(({ name }) => name === device)?.id
    if (!deviceId || raised.some((one) => one.deviceId === deviceId && one.text === about.text))
      continue
    const { alert } = await client.post(`/api/devices/${deviceId}/alerts`, {
      ...about,
      dateTime: new Date(Date.now() - hoursAgo * HOUR_MS).toISOString(),
    })
    for (const [step, body] of steps) await client.post(`/api/alerts/${alert.id}/${step}`, body)
  }
}
