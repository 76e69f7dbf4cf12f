import { toCot } from './cot.ts'
import { toEarthRanger, toGundi } from './earthranger.ts'
import { toNaf } from './naf.ts'
import type { OutputFormat, OutputRecord, OutputRequest, OutputSettings } from './output.ts'
import { toTraccar } from './traccar.ts'

/** Formats that are sent by HTTP in place of our own events. */
export type HttpFormat = Exclude<OutputFormat, 'json' | 'mqtt'>

const FORMATTERS: Record<
  HttpFormat,
  (records: OutputRecord[], settings: OutputSettings, now: number) => OutputRequest[]
> = {
  cot: (records, settings, now) => records.map((record) => toCot(record, settings, now)),
  earthranger: (records, settings) => [toEarthRanger(records, settings)],
  gundi: (records, settings) => [toGundi(records, settings)],
  // A report of a position has no place for an alert.
  naf: (records, settings) =>
    records.filter(({ alert }) => !alert).map((record) => toNaf(record, settings)),
  traccar: (records) => records.map(toTraccar),
}

/** The requests that are sent now for these records, in order; none without a record. */
export const formatRecords = (
  format: HttpFormat,
  records: OutputRecord[],
  settings: OutputSettings,
): OutputRequest[] =>
  records.length === 0 ? [] : FORMATTERS[format](records, settings, Date.now())

/** How a receiver of the format knows us. */
export const authorizationOf = (
  format: HttpFormat,
  token: string | null,
): Record<string, string> => {
  if (token === null) return {}
  return format === 'gundi' ? { apikey: token } : { Authorization: `Bearer ${token}` }
}
