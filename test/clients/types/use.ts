// Compiled against the types that openapi-typescript generates: what a client writes must fit them.
import type { components, operations, paths } from './api.ts'

type Schemas = components['schemas']
type BodyOf<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

export const device: BodyOf<'createDevice'> = { name: 'Tern 7' }

/** Accepts what GET returns, bare and as the whole reply, in the lists too. */
type Sent<Reply, Name extends keyof operations> = [Reply] extends [BodyOf<Name>] ? true : false
type Listed<Page, Key extends keyof Page> = Page[Key] extends (infer Row)[] ? Row : never
type All<Checks extends true[]> = Checks
export type SentBack = All<
  [
    Sent<Schemas['Device'] | Schemas['DeviceReply'], 'replaceDevice'>,
    Sent<Listed<Schemas['DevicePage'], 'devices'>, 'replaceDevice'>,
    Sent<Schemas['GroupReply'], 'replaceGroup'>,
    Sent<Listed<Schemas['GroupPage'], 'groups'>, 'replaceGroup'>,
    Sent<Schemas['UserReply'], 'replaceUser'>,
    Sent<Listed<Schemas['UserPage'], 'users'>, 'replaceUser'>,
    Sent<Schemas['Zone'] | Schemas['ZoneReply'], 'replaceZone'>,
    Sent<Listed<Schemas['ZonePage'], 'zones'>, 'replaceZone'>,
    Sent<Schemas['Rule'] | Schemas['RuleReply'], 'replaceRule'>,
    Sent<Listed<Schemas['RulePage'], 'rules'>, 'replaceRule'>,
    Sent<Schemas['Webhook'] | Schemas['WebhookReply'], 'replaceWebhook'>,
    Sent<Listed<Schemas['WebhookPage'], 'webhooks'>, 'replaceWebhook'>,
    Sent<Schemas['Source'] | Schemas['SourceReply'], 'replaceSource'>,
    Sent<Listed<Schemas['SourcePage'], 'sources'>, 'replaceSource'>,
    Sent<Schemas['Account'] | Schemas['AccountReply'], 'patchAccount'>,
    Sent<Schemas['ReadCommandChannelReply'], 'setCommandChannel'>,
    Sent<Schemas['ZoneCollection'], 'importZones'>,
  ]
>

export const radiusOf = ({ shape }: Schemas['Zone']): number | null =>
  shape.type === 'Circle' ? shape.radius : null
export const limitOf = ({ when }: Schemas['Rule']): number | undefined =>
  when.type === 'speed' ? when.above : undefined
export const daysOf = ({ schedule }: Schemas['Rule']): Schemas['Weekday'][] =>
  schedule.flatMap(({ days }) => days)
export const namesOf = ({ features }: Schemas['ZoneCollection']): string[] =>
  features.map(({ properties }) => properties.name)
/** A report and a query share a path: the status, or a required member, tells their replies apart. */
export const storedOf = (
  reply: Schemas['PostLocationsReply'] | Schemas['LocationPage'],
): [accepted: number] | [next: string | null] =>
  'accepted' in reply ? [reply.accepted] : [reply.nextCursor]
export const raisedOf = (reply: Schemas['PostAlertsReply'] | Schemas['AlertPage']): string[] =>
  'alert' in reply ? [reply.alert.id] : reply.alerts.map(({ id }) => id)

export const merge: BodyOf<'patchDevice'> = { limits: { dailySmsLimit: 5 }, identifier: null }
export const steps: BodyOf<'patchDevice'> = [{ op: 'replace', path: '/name', value: 'Tern 8' }]
export const report: BodyOf<'postLocations'> = {
  locations: [{ dateTime: '2026-11-14T09:30:00Z', latitude: 38.7, longitude: -9.1 }],
}
export const query: BodyOf<'postLocations'> = {
  from: '2026-11-14T00:00:00Z',
  to: '2026-11-15T00:00:00Z',
}
export const raise: BodyOf<'postAlerts'> = { alert: { alertName: 'SOSButton' } }
export const user: BodyOf<'createUser'> = {
  name: 'Ana Sousa',
  email: 'ana@example.com',
  country: 'PT',
  timeZone: 'Europe/Lisbon',
}
export const emailOf = (reply: Schemas['UserReply']): [true, string] => [reply.success, reply.email]
export const page: paths['/api/devices']['get']['parameters']['query'] = { limit: 10 }

// @ts-expect-error a device needs a name
export const nameless: BodyOf<'createDevice'> = { model: 'RockSTAR' }
// @ts-expect-error a circle has no corners
export const square: Schemas['ZoneShape'] = { type: 'Circle', coordinates: [] }
// @ts-expect-error a condition of another type
export const faster: Schemas['RuleCondition'] = { type: 'stands', above: 90 }
// @ts-expect-error no such member
export const unknown: Schemas['DeviceBody'] = { name: 'Tern 7', colour: 'red' }
