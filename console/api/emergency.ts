import type { Account, Alert } from './types.ts'

/* Members of emergencies, which an older service does not have. */

interface EmergencyMembers {
  emergency: boolean
  late: boolean
  cancelled: boolean
  cancelledAt: string | null
  cancelledBy: string | null
  positionTime: string | null
  positionSource: 'reported' | 'last-known' | 'none'
  updates: { dateTime: string; latitude: number | null; longitude: number | null }[]
}
export type AnyAlert = Alert & Partial<EmergencyMembers>

export interface EmergencyContact {
  name: string
  email?: string | null
  phone?: string | null
}
export interface EmergencySettings {
  emergencyContacts: EmergencyContact[]
  escalation: { afterMinutes: number; rounds: number } | null
  emergencyAlerts: string[]
  dailyNoticeLimit: { email: number; sms: number }
}
export type AnyAccount = Account & Partial<EmergencySettings>

const DEFAULT_NAME = 'SOSButton'

export const isEmergency = ({ emergency, alerts }: AnyAlert): boolean =>
  emergency ?? alerts.includes(DEFAULT_NAME)

/** The settings of emergencies, if the service has them. */
export const emergencySettings = (account: AnyAccount): EmergencySettings | null =>
  account.emergencyContacts === undefined
    ? null
    : {
        emergencyContacts: account.emergencyContacts,
        escalation: account.escalation ?? null,
        emergencyAlerts: account.emergencyAlerts ?? [DEFAULT_NAME],
        dailyNoticeLimit: account.dailyNoticeLimit ?? { email: 0, sms: 0 },
      }
