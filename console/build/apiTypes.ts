/* Names the types of the client for the console. */

export interface ApiDocument {
  components: { schemas: Record<string, object> }
}

const EVENT_PREFIX = 'Event.'

/** Lists of values that forms offer, by the name of their schema. */
const OFFERED = { WEBHOOK_FORMATS: 'WebhookBodyFormat', API_VERSIONS: 'CreateKeyBodyVersion' }

/** `EventDeviceCreated` for `Event.device.created`. */
const typeName = (name: string): string =>
  name.replaceAll(/(?:^|\.)([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())

const valuesOf = (schema: { enum?: readonly string[] } = {}): string =>
  (schema.enum ?? []).map((value) => `'${value}'`).join()

/** The text of `console/api/types.ts`. Formatting is left to Biome. */
export const apiTypes = ({ components }: ApiDocument): string => {
  const names = Object.keys(components.schemas)
  const events = names.filter((name) => name.startsWith(EVENT_PREFIX))
  const eventNames = events.map((name) => `'${name.slice(EVENT_PREFIX.length)}'`)
  return [
    '// Written by `npm run openapi` from public/api/openapi.json. Do not edit.',
    "import type { Schemas } from '../../clients/typescript/src/types.ts'",
    '',
    ...names.map((name) => `export type ${typeName(name)} = Schemas['${name}']`),
    '',
    '/** Every type of event, by kind. */',
    `export const EVENT_TYPES = [${eventNames.join()}] as const`,
    ...Object.entries(OFFERED).map(
      ([list, name]) => `export const ${list} = [${valuesOf(components.schemas[name])}] as const`,
    ),
    '',
  ].join('\n')
}
