import { changesOf } from '../../api/changes.ts'
import type { Device, DeviceBody } from '../../api/types.ts'
import { type Tag, tagPatch, tagRecord, tagsOf } from '../../ui/form/fieldGroups.tsx'

/** What is typed into the form of a device. Numbers stay text until they are sent. */
export interface DeviceDraft {
  name: string
  identifier: string
  model: string
  min: string
  description: string
  tags: readonly Tag[]
  /** In km/h. */
  maxSpeed: string
  expires: boolean
  expirationDate: string
  dailyEmailLimit: string
  dailySmsLimit: string
  /** Messages that only emergencies may use. */
  reserve: { email: string; sms: string }
}

const DEFAULT_EMAIL_LIMIT = 100
const DEFAULT_SMS_LIMIT = 20
const DEFAULT_MAX_SPEED = 1200

export const EMPTY_DRAFT: DeviceDraft = {
  name: '',
  identifier: '',
  model: '',
  min: '',
  description: '',
  tags: [],
  maxSpeed: String(DEFAULT_MAX_SPEED),
  expires: false,
  expirationDate: '',
  dailyEmailLimit: String(DEFAULT_EMAIL_LIMIT),
  dailySmsLimit: String(DEFAULT_SMS_LIMIT),
  reserve: { email: '0', sms: '0' },
}

export const draftOf = (device: Device): DeviceDraft => ({
  name: device.name,
  identifier: device.identifier ?? '',
  model: device.model,
  min: device.min,
  description: device.description,
  tags: tagsOf(device.tags),
  maxSpeed: String(device.maxSpeed),
  expires: device.limits.expires,
  expirationDate: device.limits.expirationDate ?? '',
  dailyEmailLimit: String(device.limits.dailyEmailLimit),
  dailySmsLimit: String(device.limits.dailySmsLimit),
  reserve: {
    email: String(device.limits.emergencyReserve.email),
    sms: String(device.limits.emergencyReserve.sms),
  },
})

/** An empty field is null: the service then takes its default. Text stays text, so that it is refused. */
const numberOf = (typed: string): number | null =>
  typed.trim() === '' ? null : ((Number.isNaN(Number(typed)) ? typed : Number(typed)) as number)

export const bodyOf = (draft: DeviceDraft): DeviceBody => ({
  name: draft.name.trim(),
  identifier: draft.identifier.trim() || null,
  model: draft.model.trim(),
  min: draft.min.trim(),
  description: draft.description,
  tags: tagRecord(draft.tags),
  maxSpeed: numberOf(draft.maxSpeed),
  limits: {
    expires: draft.expires,
    expirationDate: draft.expirationDate || null,
    dailyEmailLimit: numberOf(draft.dailyEmailLimit),
    dailySmsLimit: numberOf(draft.dailySmsLimit),
    emergencyReserve: {
      email: numberOf(draft.reserve.email),
      sms: numberOf(draft.reserve.sms),
    },
  },
})

/** A merge patch of what was changed, so that an edit does not undo what somebody else did. */
export const patchOf = (before: DeviceDraft, after: DeviceDraft): Record<string, unknown> => {
  const changes = changesOf(bodyOf(before), bodyOf(after))
  if (!changes.tags) return changes
  return { ...changes, tags: tagPatch(tagRecord(before.tags), tagRecord(after.tags)) }
}
