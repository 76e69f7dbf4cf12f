import type { JsonObject } from '../text/json.ts'
import { iso } from '../time/iso.ts'
import {
  describeAlert,
  jsonRequest,
  known,
  nameForOthers,
  type OutputRecord,
  type OutputRequest,
  type OutputSettings,
} from './output.ts'

/* EarthRanger's sensor API, and the observations of Gundi, which feeds EarthRanger and others. */

const SOURCE_TYPE = 'tracking-device'

const MAX_SHIFT_MS = 1000

/**
 * Receivers know an observation by its source and time, and would ignore an alert at the time of a
 * position or of another alert that they have.
 */
const recordedAt = ({ time, alert, sequence }: OutputRecord): string =>
  iso(alert ? Math.max(alert.time, time) + 1 + (sequence % MAX_SHIFT_MS) : time)

const additionalOf = (record: OutputRecord): JsonObject => {
  const { altitude, speed, course, accuracy, battery, id, time, alert, isSandbox } = record
  return known({
    event: id,
    altitude,
    speed_kmph: speed,
    heading: course,
    accuracy,
    battery,
    alert: describeAlert(record),
    alert_time: alert && iso(alert.time),
    position_time: alert && iso(time),
    sandbox: isSandbox,
  })
}

const placeOf = ({ latitude, longitude }: OutputRecord) => ({ lat: latitude, lon: longitude })

/** A list of positions for `/api/v1.0/sensors/generic/{provider}/status`. */
export const toEarthRanger = (
  records: OutputRecord[],
  { subjectType }: OutputSettings,
): OutputRequest =>
  jsonRequest(
    records.map((record) => ({
      manufacturer_id: nameForOthers(record.device),
      source_type: SOURCE_TYPE,
      subject_name: record.device.name,
      ...(subjectType && { subject_subtype: subjectType }),
      ...(record.device.model && { model_name: record.device.model }),
      recorded_at: recordedAt(record),
      location: placeOf(record),
      additional: additionalOf(record),
    })),
  )

/** A list of observations for `/v2/observations/`. */
export const toGundi = (records: OutputRecord[], { subjectType }: OutputSettings): OutputRequest =>
  jsonRequest(
    records.map((record) => ({
      source: nameForOthers(record.device),
      source_name: record.device.name,
      type: SOURCE_TYPE,
      ...(subjectType && { subject_type: subjectType }),
      recorded_at: recordedAt(record),
      location: placeOf(record),
      additional: additionalOf(record),
    })),
  )
