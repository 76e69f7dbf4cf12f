// Where a device of the demo is at a time. Pure: the same time always gives the same place, so a
// restarted server continues every track without a jump.

const HOUR_MS = 3_600_000
const EARTH_KM = 6371
const STEP_KM = 80
const KM_PER_DEGREE = 111.2
const RADIANS = Math.PI / 180

export const distanceKm = ([lat1, lon1], [lat2, lon2]) => {
  const a =
    Math.sin(((lat2 - lat1) * RADIANS) / 2) ** 2 +
    Math.cos(lat1 * RADIANS) *
      Math.cos(lat2 * RADIANS) *
      Math.sin(((lon2 - lon1) * RADIANS) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.sqrt(a))
}

const mix = (a, b, share) => a.map((value, axis) => value + ((b[axis] ?? value) - value) * share)

/** A route with the distance from its start at each point. Long legs get points in between. */
const measure = (route) => {
  const points = [{ at: route[0], km: 0 }]
  for (const [index, to] of route.entries()) {
    if (index === 0) continue
    const from = route[index - 1]
    const pieces = Math.ceil(distanceKm(from, to) / STEP_KM)
    for (let piece = 1; piece <= pieces; piece++) {
      const last = points.at(-1)
      const at = mix(from, to, piece / pieces)
      points.push({ at, km: last.km + distanceKm(last.at, at) })
    }
  }
  return points
}

const measured = new Map()
const pointsOf = (route) => {
  if (!measured.has(route)) measured.set(route, measure(route))
  return measured.get(route)
}
export const lengthKm = (route) => pointsOf(route).at(-1).km

/** The place after `km` of a route, a little beside the straight line except near the ends. */
export const placeAt = ({ route, swayKm }, km) => {
  const points = pointsOf(route)
  const length = points.at(-1).km
  km = Math.min(km, length)
  const index = Math.max(
    1,
    points.findIndex((point) => point.km >= km),
  )
  const [from, to] = [points[index - 1], points[index]]
  const [latitude, longitude, elevation] = mix(from.at, to.at, (km - from.km) / (to.km - from.km))
  const fade = Math.min(1, km / 60, (length - km) / 60)
  const sway = (Math.sin(km / 23) * 0.7 + Math.sin(km / 7.3) * 0.3) * swayKm * fade
  return {
    latitude: latitude + sway / KM_PER_DEGREE,
    longitude: longitude + (sway * 0.6) / KM_PER_DEGREE / Math.cos(latitude * RADIANS),
    elevation,
    length,
  }
}

/** Kilometres travelled since 1970, were the route endless. It moves for `hours` of each day. */
const odometer = ({ kmh, hours, route }, at) => {
  // The working day begins at about five in the morning where the route begins.
  const local = at / HOUR_MS + route[0][1] / 15 - 5
  const day = Math.floor(local / 24)
  return kmh * (day * hours + Math.min(local - day * 24, hours))
}

/** How far along its route the device is, out and back with a pause at each end. */
const progressKm = (member, at) => {
  const { kmh, pauseHours, ahead, route } = member
  const length = lengthKm(route)
  const pause = kmh * pauseHours
  const round = 2 * (length + pause)
  const origin = odometer(member, member.epoch) - ahead * kmh
  // `ahead` holds at the epoch, the time at which the demo account was created.
  const done = (((odometer(member, at) - origin) % round) + round) % round
  if (done < length) return done
  if (done < length + pause) return length
  if (done < 2 * length + pause) return 2 * length + pause - done
  return 0
}

const round = (value, places) => Math.round(value * 10 ** places) / 10 ** places
const wrap = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180

const COURSE_SPAN_MS = 60_000

const altitudeOf = ({ kind }, { elevation, length }, km) => {
  if (kind === 'aircraft') return Math.min(7600, Math.min(km, length - km) * 62)
  return elevation
}

/** What the sensors of a kind of device add to a location. */
const SENSORS = {
  ship: (hours) => ({ temperature: round(-18 + Math.sin(hours / 5) * 0.8, 1) }),
  boat: (hours) => ({ battery: round(86 + Math.sin(hours / 24) * 12, 0) }),
  truck: (hours, km) => ({ fuel: round(95 - ((km / 9 + hours) % 70), 0), battery: 100 }),
  aircraft: () => ({ battery: 100 }),
  team: (hours) => ({ battery: round(100 - (hours % 60) * 1.4, 0) }),
  buoy: (hours) => ({
    battery: round(93 - (hours % 720) / 30, 0),
    temperature: round(17 + Math.sin(hours / 24) * 1.2, 1),
  }),
}

/** The location that a device reports at a time. */
export const locationAt = (member, at) => {
  const km = progressKm(member, at)
  const place = placeAt(member, km)
  const before = placeAt(member, progressKm(member, at - COURSE_SPAN_MS))
  const north = place.latitude - before.latitude
  const east = (place.longitude - before.longitude) * Math.cos(place.latitude * RADIANS)
  const speed = (Math.hypot(north, east) * KM_PER_DEGREE * HOUR_MS) / COURSE_SPAN_MS
  const altitude = altitudeOf(member, place, km)
  return {
    dateTime: new Date(at).toISOString(),
    latitude: round(place.latitude, 5),
    longitude: round(wrap(place.longitude), 5),
    speed: round(speed, 1),
    ...(speed > 0.1 && { course: round((Math.atan2(east, north) / RADIANS + 360) % 360, 1) }),
    ...(altitude !== undefined && { altitude: round(altitude, 0) }),
    ...SENSORS[member.kind](at / HOUR_MS, km),
    source: 'gnss',
  }
}

/** The times between `from` and `to`, without `from`, at which a device reports. */
export const reportTimes = ({ everyMinutes }, from, to) => {
  const step = everyMinutes * 60_000
  const times = []
  for (let at = Math.floor(from / step) * step + step; at <= to; at += step) times.push(at)
  return times
}
