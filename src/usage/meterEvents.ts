import { sha256 } from '../domain/text/sha256.ts'
import { dayStart } from '../domain/time/day.ts'
import { iso } from '../domain/time/iso.ts'
import { type Month, nextMonth } from '../domain/usage/usage.ts'
import type { UsageReport } from './readUsage.ts'

/* Usage as events that billing services take, one for each meter that has counted something. */

export const METER_FORMATS = ['stripe', 'lago'] as const
export type MeterFormat = (typeof METER_FORMATS)[number]

const metersOf = ({ licenseDays, locations, messages, storageBytes, requests }: UsageReport) => ({
  license_days: licenseDays,
  locations,
  emails: messages.email,
  sms: messages.sms,
  sms_segments: messages.smsSegments,
  notifications: messages.push,
  calls: messages.voice,
  storage_bytes: storageBytes,
  requests,
})

interface MeterEvent {
  accountId: string
  meter: string
  value: number
  /** The same whenever the event is made. */
  identifier: string
  at: number
}

const WRITE: Record<MeterFormat, (event: MeterEvent) => object> = {
  stripe: ({ accountId, meter, value, identifier, at }) => ({
    event_name: meter,
    identifier,
    timestamp: iso(at),
    payload: { stripe_customer_id: accountId, value: String(value) },
  }),
  lago: ({ accountId, meter, value, identifier, at }) => ({
    transaction_id: identifier,
    external_subscription_id: accountId,
    code: meter,
    timestamp: at / 1000,
    properties: { value },
  }),
}

/** A line for each event. They happen in the last second of the month in the account's zone. */
export const writeMeterEvents = async (
  format: MeterFormat,
  month: Month,
  { accountId, usage }: { accountId: string; usage: UsageReport },
): Promise<string> => {
  const at = dayStart(`${nextMonth(month)}-01`, usage.timeZone) - 1000
  const lines = Object.entries(metersOf(usage))
    .filter(([, value]) => value > 0)
    .map(async ([meter, value]) => {
      const identifier = (await sha256(`${accountId} ${month} ${meter}`)).toHex()
      return `${JSON.stringify(WRITE[format]({ accountId, meter, value, identifier, at }))}\n`
    })
  return (await Promise.all(lines)).join('')
}
