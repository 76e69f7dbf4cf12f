/* What the pages of the account in `pages.mjs` show. */

export const EVIL = '<img src=x onerror=alert(1)>'
const DAY_MS = 86_400_000

/** Something hostile in every field that a page shows, and what the checks need. */
export async function makeContent(account, receiver, ana) {
  const create = (path, body) => account.call('POST', path, body)
  const raise = (id, alertName) => create(`/api/devices/${id}/alerts`, { alertName, text: EVIL })
  const person = { country: 'PT', timeZone: 'Europe/Lisbon', privileges: ['admin'] }
  await create('/api/users', { ...person, ...ana })
  const user = await create('/api/users', {
    ...person,
    name: EVIL,
    email: 'evil@pages.example',
    description: EVIL,
    message: EVIL,
    tags: { [EVIL]: EVIL },
    notify: { email: false, sms: false },
  })
  const device = (body) => account.addDevice(body)
  const ship = await device({ name: 'Tern 7' })
  const evil = await device({ name: EVIL, limits: { dailyEmailLimit: 1, dailySmsLimit: 0 } })
  const { zone, sentence, date } = zoneChange()
  await device({ name: 'Truck 3', limits: { expires: true, expirationDate: date } })
  const later = new Date(Date.now() + 20 * DAY_MS).toISOString().slice(0, 10)
  await device({ name: 'Buoy 4', limits: { expires: true, expirationDate: later } })
  const group = await create('/api/groups', { name: EVIL, description: EVIL, devices: [evil.id] })
  await create('/api/account/keys', { name: EVIL, scopes: ['read'], userId: user.id })
  const { webhook } = await create('/api/webhooks', {
    url: `http://127.0.0.1:${receiver.address().port}/`,
    description: EVIL,
    events: ['key.*'],
    devices: [evil.id],
  })
  const { alert: sent } = await raise(evil.id, EVIL)
  const { alert: suppressed } = await raise(evil.id, 'LowBattery')
  return {
    ship: ship.id,
    sent,
    suppressed,
    month: later.slice(0, 7),
    zoneChange: { zone, sentence },
    details: [
      `/alerts/${sent.id}`,
      `/groups/${group.id}`,
      `/users/${user.id}`,
      `/webhooks/${webhook.id}`,
    ],
    hostilePaths: [
      '/alerts?show=all',
      `/alerts/${sent.id}`,
      '/groups',
      `/groups/${group.id}`,
      '/users',
      '/messages',
      '/webhooks',
      '/settings/keys',
    ],
  }
}

/** A device that another zone would expire or revive at this hour. */
function zoneChange() {
  const dayOf = (at) => new Date(at).toISOString().slice(0, 10)
  // Kiritimati is 14 hours ahead of UTC, Niue 11 behind.
  return new Date().getUTCHours() >= 10
    ? {
        zone: 'Pacific/Kiritimati',
        sentence: '1 device would expire at once',
        date: dayOf(Date.now() + DAY_MS),
      }
    : {
        zone: 'Pacific/Niue',
        sentence: '1 expired device would become active',
        date: dayOf(Date.now()),
      }
}
