import type { Location } from '../track/location.ts'

/* Emergencies that locations carry, in `alerts` or as `hasCriticalAlert`. */

/** What `hasCriticalAlert: true` raises. */
export const CRITICAL_ALERT = 'CriticalAlert'

interface ReportedEmergency {
  name: string
  location: Location
}

/** Whether it may carry an emergency: only then the account's names have to be known. */
export const mayCarryEmergency = ({ hasCriticalAlert, alerts }: Location): boolean =>
  hasCriticalAlert === true || (alerts !== undefined && alerts.length > 0)

const emergencyNamesOf = (
  { hasCriticalAlert, alerts }: Location,
  emergencyAlerts: readonly string[],
): string[] => [
  ...emergencyAlerts.filter((name) => alerts?.some((code) => String(code) === name)),
  ...(hasCriticalAlert === true ? [CRITICAL_ALERT] : []),
]

/** One emergency for each name, at the newest location that carries it. */
export const findEmergencies = (
  locations: readonly Location[],
  emergencyAlerts: readonly string[],
): ReportedEmergency[] => {
  const newest = new Map<string, Location>()
  for (const location of locations)
    for (const name of emergencyNamesOf(location, emergencyAlerts)) {
      const known = newest.get(name)
      if (!known || known.dateTime < location.dateTime) newest.set(name, location)
    }
  return [...newest].map(([name, location]) => ({ name, location }))
}

/** Whether an alert of this name has the same id as one that a location of that time raises. */
export const isRaisedByReports = (name: string, emergencyAlerts: readonly string[]): boolean =>
  name === CRITICAL_ALERT || emergencyAlerts.includes(name)
