import type { Device, DeviceBody } from '../../api/types.ts'

/** What is typed into the form of a device. Numbers stay text until they are sent. */
export interface DeviceDraft {
  name: string
  identifier: string
  model: string
  min: string
  description: string
  tags: readonly { name: string; value: string }[]
  expires: boolean
  expirationDate: string
  dailyEmailLimit: string
  dailySmsLimit: string
  /** Messages that only emergencies may use; null where the service has no such limit. */
  reserve: { email: string; sms: string } | null
}

type Limits = Device['limits'] & { emergencyReserve?: { email: number; sms: number } }

const DEFAULT_EMAIL_LIMIT = 100
const DEFAULT_SMS_LIMIT = 20

const EMPTY: DeviceDraft = {
  name: '',
  identifier: '',
  model: '',
  min: '',
  description: '',
  tags: [],
  expires: false,
  expirationDate: '',
  dailyEmailLimit: String(DEFAULT_EMAIL_LIMIT),
  dailySmsLimit: String(DEFAULT_SMS_LIMIT),
  reserve: null,
}

/** The draft of a new device; `hasReserve` if the service keeps messages for emergencies. */
export const emptyDraft = (hasReserve: boolean): DeviceDraft => ({
  ...EMPTY,
  reserve: hasReserve ? { email: '0', sms: '0' } : null,
})

const reserveOf = ({ emergencyReserve }: Limits): DeviceDraft['reserve'] =>
  emergencyReserve
    ? { email: String(emergencyReserve.email), sms: String(emergencyReserve.sms) }
    : null

export const draftOf = (device: Device): DeviceDraft => ({
  name: device.name,
  identifier: device.identifier ?? '',
  model: device.model,
  min: device.min,
  description: device.description,
  tags: Object.entries(device.tags).map(([name, value]) => ({ name, value })),
  expires: device.limits.expires,
  expirationDate: device.limits.expirationDate ?? '',
  dailyEmailLimit: String(device.limits.dailyEmailLimit),
  dailySmsLimit: String(device.limits.dailySmsLimit),
  reserve: reserveOf(device.limits),
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
  tags: Object.fromEntries(
    draft.tags.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]),
  ),
  limits: {
    expires: draft.expires,
    expirationDate: draft.expirationDate || null,
    dailyEmailLimit: numberOf(draft.dailyEmailLimit),
    dailySmsLimit: numberOf(draft.dailySmsLimit),
    ...(draft.reserve && {
      emergencyReserve: {
        email: numberOf(draft.reserve.email),
        sms: numberOf(draft.reserve.sms),
      },
    }),
  },
})

/** A merge patch of what was changed, so that an edit does not undo what somebody else did. */
export const patchOf = (before: DeviceDraft, after: DeviceDraft): Record<string, unknown> => {
  const [old, next] = [bodyOf(before), bodyOf(after)] as Record<string, unknown>[]
  const patch: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(next ?? {}))
    if (JSON.stringify(value) !== JSON.stringify(old?.[name])) patch[name] = value
  if (patch.tags) {
    const removed = Object.keys(old?.tags as object).filter(
      (name) => !(name in (patch.tags as object)),
    )
    patch.tags = {
      ...(patch.tags as object),
      ...Object.fromEntries(removed.map((name) => [name, null])),
    }
  }
  return patch
}
