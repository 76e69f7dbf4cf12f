import { decimal, xmlText } from '../text/xml.ts'
import { iso } from '../time/iso.ts'
import {
  describeAlert,
  type OutputRecord,
  type OutputRequest,
  type OutputSettings,
} from './output.ts'

/* Cursor on Target, version 2.0, as TAK servers and clients read it. */

const FRIEND_ON_GROUND = 'a-f-G'
const EMERGENCY = 'b-a-o-tbl'
const STALE_MINUTES = 60
const MINUTE_MS = 60_000
/** What the schema has for an unknown height or error. */
const UNKNOWN = 9_999_999
const KMH_PER_METRE_A_SECOND = 3.6

const attributes = (given: Record<string, string | number>): string =>
  Object.entries(given)
    .map(
      ([name, value]) =>
        ` ${name}="${typeof value === 'number' ? decimal(value) : xmlText(value)}"`,
    )
    .join('')

const element = (name: string, given: Record<string, string | number>, content = ''): string =>
  `<${name}${attributes(given)}${content ? `>${content}</${name}>` : '/>'}`

/** The alert of a record, unless it is a drill or no emergency. */
const emergencyOf = ({ alert }: OutputRecord) =>
  alert?.isEmergency && !alert.isTest ? alert : undefined

/** An emergency has the time of the alert, so the remarks have that of an older position. */
const remarksOf = (record: OutputRecord): string | undefined => {
  const text = describeAlert(record)
  const olderMs = (emergencyOf(record)?.time ?? record.time) - record.time
  if (olderMs < MINUTE_MS) return text
  const minutes = Math.floor(olderMs / MINUTE_MS)
  return `${text} (position of ${iso(record.time)}, ${minutes} min before the alert)`
}

const detailOf = (record: OutputRecord, uid: string, type: string): string => {
  const { device, speed, course, battery } = record
  const remarks = remarksOf(record)
  const isEmergency = emergencyOf(record) !== undefined
  return [
    element('contact', { callsign: isEmergency ? `${device.name}-Alert` : device.name }),
    ...(speed === undefined && course === undefined
      ? []
      : [
          element('track', {
            speed: (speed ?? 0) / KMH_PER_METRE_A_SECOND,
            course: course ?? 0,
          }),
        ]),
    ...(battery === undefined ? [] : [element('status', { battery: Math.round(battery) })]),
    ...(isEmergency
      ? [
          element('link', { uid, type, relation: 'p-p' }),
          element('emergency', { type: '911 Alert' }, xmlText(device.name)),
        ]
      : []),
    ...(remarks ? [element('remarks', {}, xmlText(remarks))] : []),
  ].join('')
}

/**
 * A drill, or an alert that is no emergency, is a position with a remark. An emergency is never
 * stale when it is sent, however old its position is.
 */
export const toCot = (
  record: OutputRecord,
  settings: OutputSettings,
  now: number,
): OutputRequest => {
  const { device, latitude, longitude, altitude, accuracy } = record
  const uid = `perigee.${device.id}`
  const type = settings.cotType ?? FRIEND_ON_GROUND
  const emergency = emergencyOf(record)
  const time = emergency?.time ?? record.time
  const validFrom = emergency ? Math.max(time, now) : time
  const stale = validFrom + (settings.staleMinutes ?? STALE_MINUTES) * MINUTE_MS
  const event = element(
    'event',
    {
      version: '2.0',
      uid: emergency ? `${uid}-9-1-1` : uid,
      type: emergency ? EMERGENCY : type,
      how: 'm-g',
      time: iso(time),
      start: iso(time),
      stale: iso(stale),
    },
    element('point', {
      lat: latitude,
      lon: longitude,
      hae: altitude ?? UNKNOWN,
      ce: accuracy ?? UNKNOWN,
      le: UNKNOWN,
    }) + element('detail', {}, detailOf(record, uid, type)),
  )
  return {
    contentType: 'application/xml',
    body: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${event}\n`,
  }
}
