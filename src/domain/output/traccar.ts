import { iso } from '../time/iso.ts'
import {
  describeAlert,
  jsonRequest,
  known,
  nameForOthers,
  type OutputRecord,
  type OutputRequest,
} from './output.ts'

/* What Traccar itself forwards (`forward.type=json`, `event.forward.type=json`). */

const KMH_PER_KNOT = 1.852

const alarmOf = ({ alert }: OutputRecord): string | undefined => {
  if (!alert || alert.isTest) return undefined
  return alert.isEmergency ? 'sos' : 'general'
}

export const toTraccar = (record: OutputRecord): OutputRequest => {
  const { device, time, latitude, longitude, altitude, speed, course, accuracy, battery } = record
  const alarm = alarmOf(record)
  const remark = describeAlert(record)
  const fixedAt = iso(time)
  const at = iso(record.alert?.time ?? time)
  const position = {
    id: 0,
    deviceId: 0,
    protocol: 'perigee',
    serverTime: at,
    deviceTime: at,
    fixTime: fixedAt,
    valid: true,
    outdated: at > fixedAt,
    latitude,
    longitude,
    altitude: altitude ?? 0,
    speed: (speed ?? 0) / KMH_PER_KNOT,
    course: course ?? 0,
    accuracy: accuracy ?? 0,
    attributes: known({ batteryLevel: battery, alarm, message: remark, sandbox: record.isSandbox }),
  }
  const event = alarm && {
    id: 0,
    type: 'alarm',
    eventTime: at,
    deviceId: 0,
    positionId: 0,
    attributes: { alarm, message: remark },
  }
  return jsonRequest({
    ...(event && { event }),
    position,
    device: {
      id: 0,
      name: device.name,
      uniqueId: nameForOthers(device),
      status: 'online',
      lastUpdate: at,
      model: device.model,
      attributes: device.tags,
    },
  })
}
