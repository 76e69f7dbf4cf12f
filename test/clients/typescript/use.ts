// Compiled against the types that openapi-typescript generates: what a client writes must fit them.
import type { components, operations, paths } from './api.ts'

type Schemas = components['schemas']
type BodyOf<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

export const device: BodyOf<'createDevice'> = { name: 'Tern 7' }
export const sentBack = (reply: Schemas['DeviceReply']): BodyOf<'replaceDevice'> => reply.device
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
// @ts-expect-error no such member
export const unknown: Schemas['DeviceBody'] = { name: 'Tern 7', colour: 'red' }
