import type { Day } from './day.ts'

/** What a client may write of a device. */
export interface DeviceRecord {
  name: string
  description: string
  min: string
  identifier: string | null
  model: string
  tags: Record<string, string>
  limits: DeviceLimits
}

export interface DeviceLimits {
  expires: boolean
  expirationDate: Day | null
  dailyEmailLimit: number
  dailySmsLimit: number
}

/** A device as its ledger knows it. Groups and locations are the cell's to add. */
export interface Device extends DeviceRecord {
  /** The account's number and the device's in one integer, never used twice: tracks are kept under it. */
  key: number
  id: string
  usage: DayUsage
  creation: number
  lastModified: number
  version: number
}

export interface DayUsage {
  date: Day
  emailsSent: number
  smsSent: number
}

/** A day looked back on: also what the limits held back, where they did. */
export interface DayReport extends DayUsage {
  emailsSuppressed?: number
  smsSuppressed?: number
}

const DEVICES_PER_ACCOUNT = 2 ** 24

/** The first and the last key that the account of this device can have given out. */
export const keysBeside = (key: number): [first: number, last: number] => {
  const first = key - (key % DEVICES_PER_ACCOUNT)
  return [first, first + DEVICES_PER_ACCOUNT - 1]
}

export const deviceKey = (accountNumber: number, deviceNumber: number): number => {
  if (deviceNumber >= DEVICES_PER_ACCOUNT)
    throw new Error('an account has made as many devices as keys allow')
  return accountNumber * DEVICES_PER_ACCOUNT + deviceNumber
}
