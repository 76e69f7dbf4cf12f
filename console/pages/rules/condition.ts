import type { RuleBody } from '../../api/types.ts'

/* What a rule can watch for, and the fields that each needs. */

export type Condition = RuleBody['when']
export type RuleType = Condition['type']

export const RULE_TYPES: readonly RuleType[] = [
  'enters',
  'leaves',
  'inside',
  'outside',
  'speed',
  'value',
  'moves',
  'stands',
  'silent',
  'returns',
]

/** The names that the service gives to alerts of rules without one. */
const ALERT_NAMES: Record<RuleType, string> = {
  enters: 'ZoneEntered',
  leaves: 'ZoneLeft',
  inside: 'ForbiddenArea',
  outside: 'ForbiddenArea',
  speed: 'SpeedLimit',
  value: 'ValueLimit',
  moves: 'Moved',
  stands: 'Standing',
  silent: 'Offline',
  returns: 'Online',
}
export const alertNameFor = (type: RuleType): string => ALERT_NAMES[type]

/** What is typed about the condition; numbers stay text until they are sent. */
export interface TypedCondition {
  type: RuleType
  zones: readonly string[]
  minutes: string
  metres: string
  member: string
  above: string
  below: string
  computed: boolean
}

export const EMPTY_CONDITION: TypedCondition = {
  type: 'enters',
  zones: [],
  minutes: '30',
  metres: '200',
  member: 'battery',
  above: '',
  below: '',
  computed: false,
}

type Field = Exclude<keyof TypedCondition, 'type'>

const FIELDS: Record<RuleType, readonly Field[]> = {
  enters: ['zones'],
  leaves: ['zones'],
  inside: ['zones', 'minutes'],
  outside: ['zones', 'minutes'],
  speed: ['above', 'below', 'computed', 'zones'],
  value: ['member', 'above', 'below'],
  moves: ['metres'],
  stands: ['minutes'],
  silent: ['minutes'],
  returns: [],
}
export const hasField = (type: RuleType, field: Field): boolean => FIELDS[type].includes(field)

export const typedConditionOf = (when: Condition): TypedCondition => {
  const given = Object.entries(when).filter(([, value]) => value !== null && value !== undefined)
  const typed = given.map(([name, value]) => [
    name,
    typeof value === 'number' ? String(value) : value,
  ])
  return { ...EMPTY_CONDITION, ...Object.fromEntries(typed) }
}

/** Text that is no number stays text, so that the service refuses it beside its field. */
export const numberOrText = (typed: string): number => {
  const value = Number(typed)
  return (typed.trim() === '' || Number.isNaN(value) ? typed : value) as number
}

/** What is sent. Limits that are left empty are left out. */
export const conditionOf = (typed: TypedCondition): Condition => {
  const { type, zones } = typed
  const when: Record<string, unknown> = { type }
  if (hasField(type, 'zones') && (type !== 'speed' || zones.length > 0)) when.zones = zones
  for (const name of ['minutes', 'metres'] as const)
    if (hasField(type, name)) when[name] = numberOrText(typed[name])
  for (const name of ['above', 'below'] as const)
    if (hasField(type, name) && typed[name].trim() !== '') when[name] = numberOrText(typed[name])
  if (hasField(type, 'computed') && typed.computed) when.computed = true
  if (hasField(type, 'member')) when.member = typed.member.trim()
  return when as Condition
}
