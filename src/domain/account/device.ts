import type { Channel } from '../message/alert.ts'
import type { Day } from '../time/day.ts'
import type { Resource } from './resource.ts'

/** The members of a device that a client writes. */
export interface DeviceRecord {
  name: string
  description: string
  min: string
  identifier: string | null
  model: string
  tags: Record<string, string>
  limits: DeviceLimits
  /** In km/h; 0 for no check. Old records have none. */
  maxSpeed?: number
}

export interface DeviceLimits {
  expires: boolean
  expirationDate: Day | null
  dailyEmailLimit: number
  dailySmsLimit: number
  /** Messages of the daily limits that only emergencies may use. Old records have none. */
  emergencyReserve?: { email: number; sms: number }
}

/** Of a device that names none. */
export const DEFAULT_DAILY_LIMITS = { dailyEmailLimit: 100, dailySmsLimit: 20 }

/** A fix that needs a higher speed than this is quarantined: airliners are slower. */
export const DEFAULT_MAX_SPEED = 1200

export const NO_RESERVE = { email: 0, sms: 0 }

/** A device as the ledger has it. Its groups and locations are only in the cell. */
export interface Device extends DeviceRecord, Resource {
  /**
   * The account's number and the device's in one integer. Never reused: tracks are stored under it.
   */
  key: number
  usage: DayUsage
}

/** Numbers of messages; none for a channel that is left out. */
export type MessageCounts = Partial<Record<Channel, number>>

export interface DayUsage {
  date: Day
  sent: MessageCounts
}

/** A past day's usage, with the messages that the daily limits suppressed. */
export interface DayReport extends DayUsage {
  suppressed: MessageCounts
}

export const DEVICES_PER_ACCOUNT = 2 ** 24

/** The range of keys that belongs to the account of this device. */
export const keysBeside = (key: number): [first: number, last: number] => {
  const first = key - (key % DEVICES_PER_ACCOUNT)
  return [first, first + DEVICES_PER_ACCOUNT - 1]
}

/** The number of the account that a device key belongs to. */
export const accountNumberOf = (key: number): number => Math.floor(key / DEVICES_PER_ACCOUNT)

export const deviceKey = (accountNumber: number, deviceNumber: number): number => {
  if (deviceNumber >= DEVICES_PER_ACCOUNT)
    throw new Error('the account has created as many devices as its keys can number')
  return accountNumber * DEVICES_PER_ACCOUNT + deviceNumber
}
