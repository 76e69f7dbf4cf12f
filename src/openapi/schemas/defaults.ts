import type { oas31 } from 'zod-openapi'

type Schema = oas31.SchemaObject

const asText = (value: unknown): string =>
  value === '' ? 'empty' : value === null ? 'null' : `\`${JSON.stringify(value)}\``

const describe = (member: Schema): void => {
  const { default: value, description = '' } = member
  delete member.default
  if (/\bDefault:/.test(description) || JSON.stringify(value) === '{}') return
  member.description = `${description} Default: ${asText(value)}.`.trim()
}

/**
 * Writes the default of each member into its description: client generators take a member with
 * `default` for one that is always there, and require it in requests.
 */
export const describeDefaults = (node: unknown): void => {
  if (typeof node !== 'object' || node === null) return
  const { properties } = node as Schema
  for (const member of Object.values(properties ?? {}) as Schema[])
    if (member.default !== undefined) describe(member)
  for (const part of Object.values(node)) describeDefaults(part)
}
