import type { Rule } from '../domain/rule/rule.ts'
import { iso } from '../domain/time/iso.ts'

export const presentRule = ({ version, conditionChanged, targetsChanged, ...rule }: Rule) => ({
  ...rule,
  creation: iso(rule.creation),
  lastModified: iso(rule.lastModified),
})
