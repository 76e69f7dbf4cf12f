/** The zone of the run, far from where devices report otherwise, and the rule that watches it. */
const ZONE = { name: 'Harbour', shape: { type: 'Circle', center: [0, 0], radius: 1000 } }

let changedAt = 0

/** Nothing before the last change of a rule is raised, so crossings come after it. */
export const crossingsFrom = () => changedAt + 1

export async function watchZone(call) {
  const { zone } = await call('POST', '/api/zones', ZONE)
  const { rule } = await call('POST', '/api/rules', {
    name: 'Enters',
    when: { type: 'enters', zones: [zone.id] },
    notifications: [],
  })
  changedAt = Math.max(Date.parse(zone.lastModified), Date.parse(rule.lastModified))
}

export const placeAt = (dateTime, isInside) => ({
  dateTime,
  latitude: 0,
  longitude: isInside ? 0.001 : 0.1,
})

/** So wide a circle of error is neither inside nor outside. */
export const undecidedAt = (dateTime) => ({
  dateTime,
  latitude: 0,
  longitude: 0.005,
  accuracy: 5000,
})

/** The model: how often a track, in order of time, comes from outside to inside. */
export function countEntries(locations) {
  let wasOutside = false
  let count = 0
  for (const { longitude, accuracy } of locations) {
    if (accuracy !== undefined) continue
    const isInside = longitude < 0.01 && longitude > -0.01
    if (isInside && wasOutside) count++
    wasOutside = !isInside
  }
  return count
}
