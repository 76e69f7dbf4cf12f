import type { oas31 } from 'zod-openapi'
import { pascal } from './names.ts'
import { type Schema, type Schemas, schemasOf } from './reference.ts'

/*
 * Makes a component of every object and enumeration inside another schema: generators name those
 * that have no name after their place, such as `PostLocationsBodyType0`. Equal ones are one
 * component.
 */

/** Better names than owner and member, by the place that is visited first. */
export const COMPONENT_NAMES: Readonly<Record<string, string>> = {
  'Account.emergencyContacts': 'EmergencyContact',
  'Account.escalation': 'Escalation',
  'Alert.log': 'AlertLogEntry',
  'Alert.updates': 'AlertUpdate',
  'AlertQuery.sort': 'AlertSort',
  'AlertQuery.state': 'AlertState',
  'ClaimIdentifierBody.device': 'ClaimingDevice',
  'DecideConsentBody.scopes': 'Scope',
  'DecodePayloadReply.reply': 'ProviderReply',
  'Device.limits.emergencyReserve': 'EmergencyReserve',
  'Device.tags': 'Tags',
  'DeviceBody.limits': 'NewDeviceLimits',
  'DeviceBody.limits.emergencyReserve': 'NewEmergencyReserve',
  'DeviceBody.tags': 'NewTags',
  'Event.alert.raised.data.positionSource': 'PositionSource',
  'Event.watch.checkedIn.data.state': 'WatchState',
  'ListFailuresReply.failures': 'FailedPayload',
  'ListQuarantineReply.quarantine': 'QuarantinedLocation',
  'ListQuarantineReply.quarantine.reason': 'QuarantineReason',
  'ListUnclaimedReply.unclaimed': 'UnclaimedIdentifier',
  'ListUnclaimedReply.unclaimed.lastLocation': 'ReportedLocation',
  'NewLocation.attributes': 'Attributes',
  'PatchAccountBody.dailyNoticeLimit': 'NewDailyNoticeLimit',
  'PatchAccountBody.emergencyContacts': 'NewEmergencyContact',
  'PatchAccountBody.escalation': 'NewEscalation',
  'PatchOperatedAccountBody.budgets': 'NewBudgets',
  'PatchOperatedAccountBody.budgets.messagesPerDay': 'NewMessageBudgets',
  'PostLocationsReply.results': 'RejectedLocation',
  'PostLocationsReply.results.status': 'LocationRejection',
  'ReadHealthReply.cells': 'CellHealth',
  'ReadLicenseLogReply.entries': 'LicenseLogEntry',
  'ReadLicenseLogReply.entries.what': 'LicenseChange',
  'ReadUsageReply.usage': 'UsageDay',
  'ReportLocationsReply.results': 'RejectedReport',
  'RuleBody.hysteresis': 'NewHysteresis',
  'RuleBody.notifications': 'Channel',
  'ScheduleEntry.days': 'Weekday',
  'SendCommandBody.format': 'CommandFormat',
  'SourceBody.newDevices': 'NewDevices',
  'SourceBody.provider': 'SourceProvider',
  'SourceBody.settings': 'NewSourceSettings',
  'SourceBody.settings.host': 'GarminHost',
  'SourceBody.settings.speedUnit': 'SpeedUnit',
  'UserBody.notify': 'NewUserNotify',
  'UserBody.privileges': 'Privilege',
  'WatchBody.counts': 'WatchCounts',
  'WatchBody.notifications': 'Channel',
}

/** So many members are the same thing, whatever the name of the member that has them. */
const MANY_MEMBERS = 8

/** What equal components have in common. Descriptions differ, also by the defaults in them. */
const keyOf = (schema: Schema, path: string): string => {
  const content = JSON.stringify(schema, (name, value) =>
    name === 'title' || name === 'examples' || (name === 'description' && typeof value === 'string')
      ? undefined
      : value && typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  )
  if (path.startsWith('Event.') && schema.properties) return `${path} ${content}`
  const isLarge = Object.keys(schema.properties ?? {}).length >= MANY_MEMBERS
  return schema.enum || isLarge ? content : `${path.slice(path.lastIndexOf('.'))} ${content}`
}

interface Place {
  /** `Device.limits.emergencyReserve`. */
  path: string
  /** What a component is called that has no better name. */
  name: string
}

const NULL: Schema = { type: 'null' }
const isNull = ({ type }: Schema): boolean => type === 'null'
const typesOf = ({ type }: Schema): string[] => [type ?? []].flat()
const isNamed = (schema: Schema): boolean =>
  !schema.$ref && (typesOf(schema).includes('object') || schema.enum !== undefined)
const isUnion = ({ anyOf, oneOf }: Schema): boolean => !!(anyOf ?? oneOf)

const singular = (name: string): string =>
  name.replace(/(ie)?s$/, (end) => (end === 's' ? '' : 'y'))

class Naming {
  readonly #schemas: Schemas
  /** The names of components that were made, by what they have in common. */
  readonly #made = new Map<string, string>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Replaces what is inside of the schema. */
  visit(schema: Schema, { path, name }: Place): void {
    for (const [member, part] of Object.entries((schema.properties ?? {}) as Schemas)) {
      const place = { path: `${path}.${member}`, name: name + pascal(member) }
      ;(schema.properties as Schemas)[member] = this.replace(part, place)
    }
    const place = { path, name: singular(name) }
    if (schema.items) schema.items = this.replace(schema.items as Schema, place)
    const { additionalProperties: others } = schema
    if (typeof others === 'object')
      schema.additionalProperties = this.replace(others as Schema, place)
    for (const key of ['anyOf', 'oneOf'] as const) {
      const options = schema[key] as Schema[] | undefined
      if (!options) continue
      const isChoice = options.filter((option) => !isNull(option)).length > 1
      schema[key] = options.map((option) => this.replace(option, { path, name }, isChoice))
    }
  }

  /** A reference in place of an object or enumeration; other schemas stay. */
  replace(schema: Schema, place: Place, isChoice = false): Schema {
    const { title } = schema
    this.visit(schema, title ? { path: title, name: title } : place)
    if (!isNamed(schema) || isUnion(schema)) return schema
    const { description, readOnly, ...rest } = schema
    if (isChoice && !title) throw new Error(`An option of ${place.path} needs a title`)
    const types = typesOf(schema).filter((type) => type !== 'null')
    const bare: Schema = {
      ...rest,
      type: types.length === 1 ? types[0] : types,
      ...(schema.enum && { enum: schema.enum.filter((value) => value !== null) }),
    } as Schema
    const ref = { $ref: `#/components/schemas/${this.#nameOf(bare, place, description)}` }
    const outer = { ...(description && { description }), ...(readOnly && { readOnly }) }
    const isNullable = types.length < typesOf(schema).length
    return isNullable ? { ...outer, anyOf: [ref, NULL] } : ({ ...ref, ...outer } as Schema)
  }

  #nameOf(schema: Schema, { path, name }: Place, description?: string): string {
    const key = keyOf(schema, path)
    const known = this.#made.get(key)
    if (known) return known
    const made = schema.title ?? COMPONENT_NAMES[path] ?? name
    if (this.#schemas[made]) throw new Error(`Two components are called ${made}, one at ${path}`)
    this.#made.set(key, made)
    this.#schemas[made] = { ...schema, ...(description && { description }) } as Schema
    return made
  }
}

const isPatch = ([name]: [string, Schema]): boolean => /^(Patch|Operated)/.test(name)

/** Bodies of patches come last: equal members are named after the resource. */
export const nameComponents = (document: oas31.OpenAPIObject): void => {
  const schemas = schemasOf(document)
  const naming = new Naming(schemas)
  const given = Object.entries(schemas)
  for (const [path, schema] of [...given.filter((one) => !isPatch(one)), ...given.filter(isPatch)])
    naming.visit(schema, { path, name: path.split('.').map(pascal).join('') })
}
