import { markName } from '../sandbox/sandbox.ts'
import type { JsonObject } from '../text/json.ts'

/* Webhooks whose deliveries other systems take as they are. */

export const OUTPUT_FORMATS = [
  'json',
  'cot',
  'earthranger',
  'gundi',
  'mqtt',
  'naf',
  'traccar',
] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** What a client can set of a format. `token` is kept by the feed alone. */
export interface OutputSettings {
  cotType?: string | null | undefined
  staleMinutes?: number | null | undefined
  subjectType?: string | null | undefined
  topic?: string | null | undefined
  userName?: string | null | undefined
  to?: string | null | undefined
  from?: string | null | undefined
}
export type SettingName = keyof OutputSettings | 'token'

/** Which settings a format has. */
export const SETTINGS_OF: Record<OutputFormat, readonly SettingName[]> = {
  json: [],
  cot: ['token', 'cotType', 'staleMinutes'],
  earthranger: ['token', 'subjectType'],
  gundi: ['token', 'subjectType'],
  mqtt: ['token', 'topic', 'userName'],
  naf: ['token', 'to', 'from'],
  traccar: ['token'],
}

export const isOutputFormat = (text: unknown): text is OutputFormat =>
  OUTPUT_FORMATS.includes(text as OutputFormat)

/** A device as an output names it. */
export interface OutputDevice {
  id: string
  name: string
  /** The number by which the device reports; null without one. */
  identifier: string | null
  model: string
  tags: Record<string, string>
}

/** One position of a device, from a location or an alert. */
export interface OutputRecord {
  device: OutputDevice
  /** The id of the event. */
  id: string
  /** The number of the event; 0 for a test. */
  sequence: number
  /** When the position was taken. */
  time: number
  latitude: number
  longitude: number
  altitude?: number | undefined
  /** In km/h. */
  speed?: number | undefined
  course?: number | undefined
  accuracy?: number | undefined
  battery?: number | undefined
  alert?: OutputAlert | undefined
  /** Whether it is from a sandbox: names and texts say so too. */
  isSandbox?: boolean | undefined
}

export interface OutputAlert {
  name: string
  text: string
  /** When it was raised: the position may be older. */
  time: number
  isEmergency: boolean
  isTest: boolean
}

/** One request to the receiver. */
export interface OutputRequest {
  contentType: string
  body: string
}

export const jsonRequest = (value: unknown): OutputRequest => ({
  contentType: 'application/json',
  body: JSON.stringify(value),
})

/**
 * What other systems know a device by: its identifier or, without one, our id. An identifier that
 * looks like an id could be that of another device.
 */
export const nameForOthers = ({ identifier, id }: OutputDevice): string =>
  identifier === null || /^dev_/i.test(identifier) ? id : identifier

/** A record of a sandbox, marked wherever its receiver may look. */
export const markSandbox = ({ device, alert, ...record }: OutputRecord): OutputRecord => ({
  ...record,
  device: { ...device, name: markName(true, device.name) },
  alert: alert && { ...alert, name: markName(true, alert.name) },
  isSandbox: true,
})

/** Without members that are not known. */
export const known = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** What an alert is called, beside the position. */
export const describeAlert = ({ alert }: OutputRecord): string | undefined => {
  if (!alert) return undefined
  const text = alert.text.trim() ? `${alert.name}: ${alert.text.trim()}` : alert.name
  return alert.isTest ? `TEST ${text}` : text
}

/*
 * An output has three lanes with deliveries of their own: an alert never waits behind locations, nor
 * an emergency behind other alerts. The first lane has the id of the webhook, the others that id with
 * their ending.
 */
const ALERTS = ':alerts'
const EMERGENCIES = ':emergencies'

export const alertLanesOf = (webhookId: string): string[] =>
  [ALERTS, EMERGENCIES].map((ending) => webhookId + ending)
export const isEmergencyLane = (laneId: string): boolean => laneId.endsWith(EMERGENCIES)
export const isAlertLane = (laneId: string): boolean =>
  laneId.endsWith(ALERTS) || isEmergencyLane(laneId)
export const webhookOfLane = (laneId: string): string => laneId.replace(/:.*$/, '')

interface Delivered {
  type: string
  data: Record<string, unknown>
}

/** Whether outputs send it, with its position. */
export const isAlertEvent = (type: string): boolean =>
  type === 'alert.raised' || type === 'alert.updated'

/** A test of the emergency chain is none. */
const isEmergency = ({ data }: Delivered): boolean => data.emergency === true && data.test !== true

/** Which events a lane of a format delivers. */
export const isInLane = (laneId: string, format: OutputFormat, event: Delivered): boolean => {
  if (format === 'json') return true
  if (!isAlertLane(laneId)) return event.type === 'location.reported'
  return isAlertEvent(event.type) && isEmergency(event) === isEmergencyLane(laneId)
}

/** Formats that take one position in a request. */
const MAX_SINGLE_REQUESTS = 10
const SINGLE: OutputFormat[] = ['cot', 'mqtt', 'naf', 'traccar']

export const isSingle = (format: OutputFormat): boolean => SINGLE.includes(format)

/** How many events one delivery of a lane may have. */
export const maxEventsOf = (laneId: string, format: OutputFormat, most: number): number => {
  if (isAlertLane(laneId)) return 1
  return isSingle(format) ? MAX_SINGLE_REQUESTS : most
}
