// The check-ins of the demo: one that goes on, and one that nobody keeps.

const MINUTE_MS = 60_000

/** `dueMinutes` is how long after the first start the deadline is. */
const CHECK_INS = [
  {
    name: 'Gerês field work',
    device: 'Field team north',
    everyMinutes: 360,
    graceMinutes: 30,
    counts: 'any',
    remindMinutes: 30,
    emergency: false,
  },
  {
    name: 'Icefall crossing',
    device: 'Khumbu survey',
    dueMinutes: 5,
    graceMinutes: 1,
    counts: 'checkIn',
    remindMinutes: null,
    emergency: false,
  },
]

/** Starts those that are missing. */
export async function createCheckIns(client, members) {
  const present = new Set((await client.list('/api/watches', 'watches')).map(({ name }) => name))
  for (const { device, dueMinutes, ...watch } of CHECK_INS) {
    const deviceId = members.find(({ name }) => name === device)?.id
    if (!deviceId || present.has(watch.name)) continue
    await client.post('/api/watches', {
      ...watch,
      deviceId,
      ...(dueMinutes && { due: new Date(Date.now() + dueMinutes * MINUTE_MS).toISOString() }),
      notifications: ['Email'],
    })
  }
}
