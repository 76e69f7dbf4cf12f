import type { Database } from '../db/open.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { mayCarryEmergency } from '../domain/message/reportedEmergency.ts'
import { type DeviceReport, findNamedDevices, type MixedReport } from './mixedReport.ts'
import { raisesOf } from './reportRaises.ts'

/** How a report of many devices raises the emergencies in it; null when it can have none. */
export const raisesOfReports = async (
  db: Database,
  viewer: Viewer,
  reports: DeviceReport[],
  origin: string,
): Promise<MixedReport['raisesBy']> => {
  const urgent = reports.filter(({ locations }) => mayCarryEmergency(locations))
  if (urgent.length === 0) return null
  // Alerts are raised by the device's id, which a report by identifier does not have.
  const found = await findNamedDevices(db, viewer, urgent)
  return async (emergency): Promise<PendingRaise[]> => {
    const raises = found.map(({ report, id: deviceId }) =>
      raisesOf(
        { device: { deviceId }, locations: urgent[report]?.locations ?? [], origin },
        emergency,
      ),
    )
    return (await Promise.all(raises)).flat()
  }
}
