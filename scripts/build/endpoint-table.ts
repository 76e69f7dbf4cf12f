import type { oas31 } from 'zod-openapi'

/* Writes the table of endpoints in docs/design.md from the OpenAPI document. */

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
const BEGIN = '<!-- endpoints: written by npm run openapi -->'
/** The formatter would pad every row to the longest. */
const UNPADDED = '<!-- biome-ignore format: wide -->'
const END = '<!-- /endpoints -->'

/** The calls of a tag: each path with the methods that have the tag. */
const callsOf = (document: oas31.OpenAPIObject, tag: string): string[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) => {
    const methods = METHODS.filter((method) => item[method]?.tags?.includes(tag))
    return methods.length > 0 ? `\`${methods.join(', ').toUpperCase()} ${path}\`` : []
  })

const tableOf = (document: oas31.OpenAPIObject): string => {
  const rows = (document.tags ?? []).map(
    ({ name }) => `| ${name} | ${callsOf(document, name).join('<br>')} |`,
  )
  return [UNPADDED, '| subject | calls |', '| --- | --- |', ...rows].join('\n')
}

/** Replaces what is between the two markers of a page by the table. */
export const withEndpoints = (page: string, document: oas31.OpenAPIObject): string => {
  const [before, rest] = page.split(BEGIN)
  const [, after] = rest?.split(END) ?? []
  if (before === undefined || after === undefined) {
    throw new Error(`The page must contain ${BEGIN} and ${END}`)
  }
  return `${before}${BEGIN}\n\n${tableOf(document)}\n\n${END}${after}`
}
