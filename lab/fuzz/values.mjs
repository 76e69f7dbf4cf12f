import { HOSTILE_TEXTS, ODD_NUMBERS } from './hostile.mjs'

const DAY = 86_400_000
const ZONES = [
  'UTC',
  'Europe/Lisbon',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Africa/Casablanca',
]
const COUNTRIES = ['PT', 'USA', 'de', 'GB', 'NOR']

const iso = (ms) => new Date(ms).toISOString()

/** Makes values for schemas: most are plain, some at the edge of what is allowed or just beyond. */
export function createValueMaker({ random, follow, idFor, now }) {
  const { int, pick, chance, text } = random

  const day = () => iso(now + pick([-400, -30, -1, 0, 1, 2, 30, 365, 3650]) * DAY).slice(0, 10)
  const instant = () => {
    const ms =
      now +
      pick([-3650 * DAY, -30 * DAY, -DAY, -3_600_000, -60_000, -1, 0, 1, 60_000, 599_000, DAY]) -
      int(0, 5_000)
    return pick([
      iso(ms),
      iso(ms),
      iso(ms).replace('Z', '+00:00'),
      iso(ms).replace(/\.\d+Z/, 'Z'),
      iso(ms + 3_600_000).replace('Z', '+01:00'),
    ])
  }
  const FORMATS = {
    'date-time': instant,
    date: day,
    email: () => `${text(6)}@example.com`,
    'idn-email': () => `${text(6)}@example.com`,
    'json-pointer': () => `/${text(4)}`,
    uri: () => `https://example.com/${text(6)}`,
    'uri-reference': () => `/${text(6)}`,
  }

  const string = ({ format, pattern, minLength = 0, maxLength = 60, examples = [] }, name) => {
    if (/timeZone$/i.test(name)) return pick(ZONES)
    if (name === 'country') return pick(COUNTRIES)
    if (FORMATS[format]) return FORMATS[format]()
    if (pattern && examples.length > 0) return pick(examples)
    if (pattern) return text(int(Math.max(minLength, 3), Math.min(maxLength, 20)))
    if (examples.length > 0 && chance(0.2)) return pick(examples)
    const length = chance(0.15)
      ? pick([minLength, minLength + 1, maxLength - 1, maxLength, maxLength + 1])
      : int(minLength, Math.min(maxLength, 12))
    return text(Math.max(0, length), chance(0.2) ? [...'aZ9 -_.ñßİ字🛰é%\'"'] : undefined)
  }
  const number = ({ type, minimum = -1e6, maximum = 1e6 }) => {
    const isInteger = [type].flat().includes('integer')
    if (chance(0.15))
      return pick([minimum, minimum + 1, maximum - 1, maximum, maximum + 1, minimum - 1, 0])
    const from = Math.max(minimum, -1e4)
    const to = Math.min(maximum, 1e4)
    return isInteger ? int(Math.ceil(from), Math.floor(to)) : from + random.next() * (to - from)
  }
  const array = ({ items = true, minItems = 0, maxItems = 4 }, name) => {
    const length = chance(0.1)
      ? pick([0, minItems, minItems + 1])
      : int(minItems, Math.min(maxItems, minItems + 3))
    return Array.from({ length }, () => value(items, name.replace(/s$/, '')))
  }
  const object = ({ properties = {}, required = [], additionalProperties }) => {
    const members = {}
    for (const [name, schema] of Object.entries(properties)) {
      const isIncluded = required.includes(name) || chance(schema.readOnly ? 0.05 : 0.4)
      if (isIncluded) members[name] = value(schema, name)
    }
    if (additionalProperties && additionalProperties !== true && chance(0.5)) {
      for (let count = int(0, 3); count > 0; count--)
        members[text(int(1, 8))] = value(additionalProperties, '')
    }
    return members
  }
  const anything = (depth = 0) => {
    const kind = random.pickWeighted({
      string: 3,
      number: 2,
      boolean: 1,
      null: 1,
      array: depth < 3 ? 1 : 0,
      object: depth < 3 ? 2 : 0,
    })
    if (kind === 'string') return chance(0.3) ? pick(HOSTILE_TEXTS) : text(int(0, 10))
    if (kind === 'number') return chance(0.3) ? pick(ODD_NUMBERS) : int(-1000, 1000)
    if (kind === 'boolean') return chance(0.5)
    if (kind === 'array') return Array.from({ length: int(0, 3) }, () => anything(depth + 1))
    if (kind === 'object')
      return Object.fromEntries(
        Array.from({ length: int(0, 3) }, () => [text(int(1, 6)), anything(depth + 1)]),
      )
    return null
  }

  const value = (schema, name = '') => {
    const rules = schema === true ? {} : follow(schema)
    const id = idFor(name, rules)
    if (id !== undefined && chance(0.9)) return id
    if ('const' in rules) return rules.const
    if (rules.enum) return pick(rules.enum)
    const options = rules.anyOf ?? rules.oneOf
    if (options) return value(pick(options), name)
    if (rules.allOf) return Object.assign({}, ...rules.allOf.map((part) => value(part, name)))
    const type = pick([rules.type ?? 'any'].flat())
    if (type === 'string') return string(rules, name)
    if (type === 'integer' || type === 'number') return number({ ...rules, type })
    if (type === 'boolean') return chance(0.5)
    if (type === 'null') return null
    if (type === 'array') return array(rules, name)
    if (type === 'object') return object(rules)
    return anything()
  }
  return { value, anything }
}
