import { iso } from '../time/iso.ts'
import {
  known,
  nameForOthers,
  type OutputDevice,
  type OutputRecord,
  type OutputSettings,
} from './output.ts'

/* What is published by MQTT: JSON, on a topic for each device. */

const TOPIC = 'perigee/{device}'
const MAX_LEVEL_CHARS = 200

/** A name must neither add levels to a topic nor be a wildcard. */
const level = (text: string): string =>
  text
    .replaceAll(/[/+#\p{Cc}\p{Cs}]/gu, '_')
    .slice(0, MAX_LEVEL_CHARS)
    .toWellFormed() || '_'

/** Brokers close a connection on which one is sent. */
const withoutNoncharacters = (text: string): string =>
  text.replaceAll(/\p{Noncharacter_Code_Point}/gu, '_')

/** No two devices have the same: an identifier that would have to be changed gives way to the id. */
const deviceLevel = (device: OutputDevice): string => {
  const name = nameForOthers(device)
  return withoutNoncharacters(level(name)) === name ? name : device.id
}

/** `{device}` is the identifier or, without one, the id; `{name}` is the name. */
export const topicOf = (device: OutputDevice, { topic }: OutputSettings): string =>
  withoutNoncharacters(
    (topic ?? TOPIC).replaceAll(/\{(device|name)\}/g, (_, which) =>
      which === 'name' ? level(device.name) : deviceLevel(device),
    ),
  )
    // Topics that begin with $ belong to the broker.
    .replace(/^\$/, '_')

/** `event` is the same when a delivery is repeated. */
export const payloadOf = (record: OutputRecord): string => {
  const { device, id, time, latitude, longitude, altitude, speed, course, accuracy } = record
  const { alert, isSandbox } = record
  return JSON.stringify(
    known({
      event: id,
      device: nameForOthers(device),
      name: device.name,
      time: iso(time),
      latitude,
      longitude,
      altitude,
      speed,
      course,
      accuracy,
      battery: record.battery,
      alert: alert && {
        name: alert.name,
        text: alert.text,
        time: iso(alert.time),
        emergency: alert.isEmergency,
        test: alert.isTest,
      },
      sandbox: isSandbox,
    }),
  )
}

/** A WebSocket is opened by http. */
export const toHttpUrl = (url: string): string => url.replace(/^ws(s?):/i, 'http$1:')
