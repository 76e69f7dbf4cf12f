import { fold } from '../domain/text/fold.ts'
import type { AddressedLocation } from '../locations/forms.ts'
import type { DeviceReport } from './mixedReport.ts'

/** Where a location went: the position of its device's report, and its position in that. */
type Place = [report: number, at: number]

/** The locations of a report, by their devices, so that each device is looked up once. */
export const groupByDevice = async (
  sent: readonly AddressedLocation[],
  newEventId: () => Promise<string>,
): Promise<{ reports: DeviceReport[]; places: Place[] }> => {
  const reports: DeviceReport[] = []
  const positions = new Map<string, number>()
  const places: Place[] = []
  for (const { deviceId, identifier, location } of sent) {
    const name = deviceId === null ? `i ${fold(identifier ?? '')}` : `d ${deviceId}`
    let position = positions.get(name)
    if (position === undefined) {
      position =
        reports.push({ deviceId, identifier, eventId: await newEventId(), locations: [] }) - 1
      positions.set(name, position)
    }
    const report = reports[position]
    if (report) places.push([position, report.locations.push(location) - 1])
  }
  return { reports, places }
}
