import { isScheduled } from '../time/schedule.ts'
import { isForDevice, type Rule } from './rule.ts'

/* Which devices are silent, and which are in contact again. */

const MINUTE_MS = 60_000

export interface ContactedDevice {
  id: string
  key: number
  /** The latest arrival of anything; 0 before the first. */
  contact: number
  groups: string[]
  /** By rule, the contact after which it has found the device silent. */
  marks: Record<string, number>
}

export interface Silence<Device> {
  rule: Rule
  device: Device
  /** When the rule's minutes were over, or when it began to watch if that was later. */
  at: number
  /** False outside the rule's schedule: the silence is marked, and no alert is raised. */
  isRaised: boolean
}

export interface Return<Device> {
  /** The rule that had found the device silent. */
  rule: Rule
  device: Device
  /** The contact before the silence. */
  before: number
  /** The `returns` rules that raise an alert for it. */
  returnRules: Rule[]
}

interface Occasion {
  rules: Rule[]
  timeZone: string
  now: number
}

/** What has changed for a device, by the account's rules about contact. */
export const evaluateContact = <Device extends ContactedDevice>(
  device: Device,
  { rules, timeZone, now }: Occasion,
): { silences: Silence<Device>[]; returns: Return<Device>[] } => {
  const own = rules.filter((rule) => isForDevice(rule, device.id, device.groups))
  const silences: Silence<Device>[] = []
  const returns: Return<Device>[] = []
  for (const rule of own) {
    if (rule.when.type !== 'silent') continue
    const mark = device.marks[rule.id]
    if (mark !== undefined && mark < device.contact) {
      const returnRules = own.filter(
        (other) =>
          other.when.type === 'returns' &&
          device.contact >= other.lastModified &&
          isScheduled(other.schedule, device.contact, timeZone),
      )
      returns.push({ rule, device, before: mark, returnRules })
    }
    const isOver = device.contact + rule.when.minutes * MINUTE_MS
    const isNew = mark === undefined || mark < device.contact
    if (device.contact === 0 || !isNew || isOver > now) continue
    // A rule of before `conditionChanged` has said nothing of earlier silences, nor does it now.
    if (rule.conditionChanged === undefined && isOver < rule.lastModified) continue
    const at = Math.max(isOver, rule.conditionChanged ?? 0)
    silences.push({ rule, device, at, isRaised: isScheduled(rule.schedule, at, timeZone) })
  }
  return { silences, returns }
}
