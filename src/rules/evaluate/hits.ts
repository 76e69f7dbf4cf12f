import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import { describeOccasion, MAX_REPORT_ALERTS } from '../../domain/rule/rule.ts'
import { newId } from '../../ids.ts'
import type { Hit } from './foundHits.ts'

/* What rules have found in a report, as alerts to raise. */

const MINUTE_MS = 60_000
const EVENTS = { enters: 'zone.entered', leaves: 'zone.left' } as const

export interface HitContext {
  deviceId: string
  origin: string
  now: number
  /** At most so many alerts. */
  limit?: number
}

/** How many alerts a report of many devices raises, but at least two for each device. */
const MAX_ALERTS_OF_MANY = 1000

/** How many alerts each of so many devices may raise in one report. */
export const hitsPerDevice = (devices: number): number =>
  Math.max(2, Math.min(MAX_REPORT_ALERTS, Math.floor(MAX_ALERTS_OF_MANY / Math.max(1, devices))))

/** Ids are made at arrival: of one that derives from an old time, a retry is not recognized long. */
const toRaise = async (
  { signal, fix, zone, value }: Hit,
  { deviceId, origin, now }: HitContext,
): Promise<PendingRaise> => {
  const { rule } = signal
  const { when } = rule
  const { time, latitude, longitude, speed, course, accuracy } = fix
  const isOld = now - time > rule.lateMinutes * MINUTE_MS
  const sentence = () =>
    describeOccasion({ when, zoneName: zone?.name ?? null, value, isComputed: speed === null })
  return {
    deviceId,
    alert: {
      id: await newId('alr'),
      name: rule.alertName,
      text: rule.text || sentence(),
      dateTime: time,
    },
    emergency: rule.emergency,
    reported: { time, latitude, longitude, speed, course, accuracy },
    notifications: isOld ? [] : rule.notifications,
    // Otherwise an old emergency that reaches nobody would be notified to the account.
    isQuiet: isOld,
    origin,
    rule: {
      ruleId: rule.id,
      zoneId: zone?.id ?? null,
      cooldownMinutes: rule.cooldownMinutes,
      event: when.type === 'enters' || when.type === 'leaves' ? EVENTS[when.type] : null,
    },
  }
}

/** An alert that stands for those beyond the limit. */
const summarize = async (
  left: Hit[],
  { deviceId, origin, now }: HitContext,
): Promise<PendingRaise> => ({
  deviceId,
  alert: {
    id: await newId('alr'),
    name: 'RuleAlerts',
    text: `${left.length} more alerts of rules in one report.`,
    dateTime: left.at(-1)?.fix.time ?? now,
  },
  emergency: false,
  reported: null,
  notifications: [],
  origin,
})

/** Emergencies first; beyond the limit, one alert says how many more there were. */
export const toRaises = async (hits: Hit[], context: HitContext): Promise<PendingRaise[]> => {
  const { limit = MAX_REPORT_ALERTS } = context
  if (hits.length <= limit) return Promise.all(hits.map((hit) => toRaise(hit, context)))
  const byUrgency = [
    ...hits.filter(({ signal }) => signal.rule.emergency),
    ...hits.filter(({ signal }) => !signal.rule.emergency),
  ]
  const listed = byUrgency.slice(0, limit - 1)
  const raises = await Promise.all(listed.map((hit) => toRaise(hit, context)))
  return [...raises, await summarize(byUrgency.slice(listed.length), context)]
}
