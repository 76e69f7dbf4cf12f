import type { ContactRow, MarkChange } from '../../db/queries/silence.ts'
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

export const toSilence = async (
  { rule, device, at, isRaised }: Silence,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const { key: deviceKeyOf, contact } = device
  const { accountId } = device as ContactRow
  const occasion = {
    rule,
    device: device as ContactRow,
    at,
    event: 'device.silent',
    contact,
  } as const
  const raise = () => toRaise({ ...occasion, isEventOnly: false }, origin, now)
  const raises = isRaised ? [await raise()] : []
  const { id: ruleId, version: ruleVersion } = rule
  return { ruleId, ruleVersion, deviceKey: deviceKeyOf, accountId, contact, raises }
}

/** One event, and an alert for each `returns` rule. */
export const toReturn = async (
  { rule, device: heard, before, returnRules }: Return,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const device = heard as ContactRow
  const common = { device, at: device.contact, contact: before }
  const event = { ...common, rule, event: 'device.returned', isEventOnly: true } as const
  const alerts = returnRules.map((returnRule) => ({
    ...common,
    rule: returnRule,
    event: null,
    isEventOnly: false,
  }))
  const raises = await Promise.all([event, ...alerts].map((each) => toRaise(each, origin, now)))
  const { key, accountId } = device
  const { id: ruleId, version: ruleVersion } = rule
  return { ruleId, ruleVersion, deviceKey: key, accountId, contact: before, raises }
}
