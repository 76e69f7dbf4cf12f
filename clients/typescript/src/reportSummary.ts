import type { Schemas } from './types.ts'

/** A location with its device, by `deviceId` or by `identifier`. */
export type Report = Schemas['AddressedLocation']
export type Reply = Schemas['ReportLocationsReply']

/** A location that the service has not stored, and why. */
export interface ReportResult {
  report: Report
  status: string
  detail: string | null
}

export const COUNTS = [
  'accepted',
  'duplicates',
  'conflicts',
  'tooOld',
  'unknown',
  'refused',
] as const
export type Counts = Record<(typeof COUNTS)[number], number>

export const noCounts = (): Counts => Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts

/** What became of the reports since the last `flush`, as the service counts them. */
export interface ReportSummary extends Counts {
  /** How many were refused for their values. */
  invalid: number
  /** What was not stored, the last thousand. */
  results: ReportResult[]
}

const MAX_RESULTS = 1000

/** True unless a proxy has replied. */
export const hasCounts = (reply: Reply | undefined): reply is Reply =>
  COUNTS.every((name) => typeof reply?.[name] === 'number') && Array.isArray(reply?.results)

export const newSummary = (): ReportSummary => ({ ...noCounts(), invalid: 0, results: [] })

/** The results that are kept are the last. */
export const addResult = ({ results }: ReportSummary, result: ReportResult): void => {
  results.push(result)
  if (results.length > MAX_RESULTS) results.shift()
}
