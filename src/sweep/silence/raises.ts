import type { ContactRow, MarkChange } from '../../db/queries/rules/silence.ts'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import { describeOccasion, type Rule } from '../../domain/rule/rule.ts'
import type { Return, Silence } from '../../domain/rule/silence.ts'
import { base32, base32Time } from '../../domain/text/base32.ts'

/* What rules about contact have found, as marks and alerts to raise. */

const MINUTE_MS = 60_000

/** The same silence always makes the same id, so that two runs raise it once. */
const deriveId = async (at: number, ...parts: (string | number)[]): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(parts.join(' ')))
  return `alr_${base32Time(at)}${base32(new Uint8Array(digest), 13)}`
}

interface Occasion {
  rule: Rule
  device: ContactRow
  at: number
  event: 'device.silent' | 'device.returned' | null
  isEventOnly: boolean
  /** What the alert's id derives from, beside its rule. */
  contact: number
}

const isOld = ({ lateMinutes }: Rule, at: number, now: number): boolean =>
  now - at > lateMinutes * MINUTE_MS

const toRaise = async (
  { rule, device, at, event, isEventOnly, contact }: Occasion,
  origin: string,
  now: number,
): Promise<PendingRaise> => ({
  deviceId: device.id,
  alert: {
    id: await deriveId(at, rule.id, device.id, contact, event ?? ''),
    name: rule.alertName,
    text: rule.text || describeOccasion({ when: rule.when, zoneName: null, value: null }),
    dateTime: at,
  },
  emergency: rule.emergency,
  reported: null,
  notifications: isOld(rule, at, now) ? [] : rule.notifications,
  isQuiet: isOld(rule, at, now),
  origin,
  rule: {
    ruleId: rule.id,
    zoneId: null,
    cooldownMinutes: rule.cooldownMinutes,
    event,
    isEventOnly,
    lastContact: device.contact,
  },
})

const toMark = (rule: Rule, { key, accountId }: ContactRow, contact: number) => ({
  ruleId: rule.id,
  ruleVersion: rule.version,
  deviceKey: key,
  accountId,
  contact,
})

export const toSilence = async (
  { isRaised, ...silence }: Silence<ContactRow>,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const { rule, device } = silence
  const { contact } = device
  const occasion = { ...silence, event: 'device.silent', isEventOnly: false, contact } as const
  const raises = isRaised ? [await toRaise(occasion, origin, now)] : []
  return { ...toMark(rule, device, contact), raises }
}

/** One event, and an alert for each `returns` rule. */
export const toReturn = async (
  { rule, device, before: contact, returnRules }: Return<ContactRow>,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const common = { device, at: device.contact, contact }
  const occasions: Occasion[] = [
    { ...common, rule, event: 'device.returned', isEventOnly: true },
    ...returnRules.map((other) => ({ ...common, rule: other, event: null, isEventOnly: false })),
  ]
  const raises = await Promise.all(occasions.map((each) => toRaise(each, origin, now)))
  return { ...toMark(rule, device, contact), raises }
}
