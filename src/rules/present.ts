import { iso } from '../domain/iso.ts'
import type { Rule } from '../domain/rule.ts'

export const presentRule = (rule: Rule) => {
  const { version, creation, lastModified, ...record } = rule
  return { ...record, creation: iso(creation), lastModified: iso(lastModified) }
}
