// A Garmin source of the demo: the field teams report by it too, and it has something to look at.
import { locationAt } from '../../src/domain/sandbox/travel.ts'

const NAME = 'inReach field teams'
const TALKER = 'Field team north'
const LOST = 'Khumbu survey'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const TEXT_MESSAGE = 3

/** Trackers that nobody has given a device yet: where each was, and when, in minutes. */
const UNCLAIMED = {
  300434061000220: [
    [46.02, 7.75, 300],
    [46.05, 7.79, 180],
    [46.09, 7.83, 45],
  ],
  300434061000385: [
    [64.15, -21.93, 120],
    [64.42, -21.2, 20],
  ],
}

const eventOf = (imei, at, { latitude, longitude }, more) => ({
  imei,
  messageCode: 0,
  timeStamp: Math.round(at),
  point: { latitude, longitude, altitude: 0, gpsFix: 2, course: 0, speed: 0 },
  status: { lowBattery: 0 },
  ...more,
})
const payloadOf = (events) => JSON.stringify({ Version: '2.0', Events: events })

/** Makes the source, or a new address for the one of an interrupted start, and fills it. */
export async function seedSource(client, members) {
  const teams = members.filter(({ group, state }) => group === 'Field teams' && state === 'active')
  const talker = teams.find(({ name }) => name === TALKER)
  const lost = teams.find(({ name }) => name === LOST)
  if (!talker || !lost) return
  const present = (await client.list('/api/sources', 'sources')).find(({ name }) => name === NAME)
  const { url } = present
    ? await client.post(`/api/sources/${present.id}/rotate`)
    : await client.post('/api/sources', { name: NAME, provider: 'garmin' })
  // The same at every start, so that nothing is stored twice.
  const ago = (minutes) => talker.epoch - minutes * MINUTE_MS

  await client.push(url, payloadOf(teams.map((one) => trackPoint(one, ago(3)))))
  await client.push(url, payloadOf(unclaimedEvents(ago)))
  await client.push(url, payloadOf(incredibleEvents(lost, ago)))
  await client.push(url, payloadOf([]).slice(0, -2).concat('{"imei":"30043406'))
  await converse(client, url, talker, ago)
}

const trackPoint = (member, at) => eventOf(member.identifier, at, locationAt(member, at))

const unclaimedEvents = (ago) =>
  Object.entries(UNCLAIMED).flatMap(([imei, places]) =>
    places.map(([latitude, longitude, minutes]) =>
      eventOf(imei, ago(minutes), { latitude, longitude }),
    ),
  )

/** Two that are far away from the track, and one from the future. */
const incredibleEvents = (member, ago) => [
  eventOf(member.identifier, ago(95), { latitude: 41.2, longitude: 61.4 }),
  eventOf(member.identifier, ago(52), { latitude: 12.6, longitude: 108.3 }),
  eventOf(member.identifier, ago(0) + 40 * DAY_MS, locationAt(member, ago(30))),
]

async function converse(client, url, member, ago) {
  const path = `/api/devices/${member.id}`
  const { commands } = await client.get(`${path}/commands?limit=1`)
  if (commands.length > 0) return
  const say = (at, freeText) =>
    client.push(
      url,
      payloadOf([
        eventOf(member.identifier, at, locationAt(member, at), {
          messageCode: TEXT_MESSAGE,
          freeText,
        }),
      ]),
    )
  await say(ago(64), 'Bridge at the second ford is gone. Looking for another way.')
  await client.patch(path, { min: '+881632000117' })
  await client.post(`${path}/sendCommand`, {
    command: 'Understood. The western track is open; call when you are across.',
    sms: true,
  })
  await say(Date.now(), 'Across. All four of us are well.')
}
