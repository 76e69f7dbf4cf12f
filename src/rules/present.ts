import type { Rule } from '../domain/rule/rule.ts'
import { iso } from '../domain/time/iso.ts'

export const presentRule = (rule: Rule) => {
  const { version, creation, lastModified, ...record } = rule
  return { ...record, creation: iso(creation), lastModified: iso(lastModified) }
}
