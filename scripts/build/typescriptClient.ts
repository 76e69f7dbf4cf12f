import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/* What the TypeScript client takes from the OpenAPI document. */

interface Parameter {
  $ref?: string
  in?: string
  name?: string
}

interface Operation {
  parameters?: Parameter[]
  security?: object[]
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { parameters?: Record<string, Parameter> }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** `POST /api/devices` and so on, of the operations that pass the test. */
const namesOf = (document: Document, isWanted: (method: string, one: Operation) => boolean) =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const one = operations[method]
      return one && isWanted(method, one) ? [`${method.toUpperCase()} ${path}`] : []
    }),
  )

const setOf = (names: string[]): string =>
  `new Set([\n${names.map((name) => `  '${name}',`).join('\n')}\n])`

/** The facts about operations that the client needs while it runs. */
export const operationFacts = (document: Document): string => {
  const takesKey = ({ parameters = [] }: Operation) =>
    parameters.some(({ $ref = '', name }) => `${name} ${$ref}`.includes('Idempotency-Key'))
  const isOpen = ({ security }: Operation) => security?.length === 0
  return `// Written by \`npm run openapi\` from public/api/openapi.json. Do not edit.

/** A POST that takes no \`Idempotency-Key\`. */
export const WITHOUT_KEY: ReadonlySet<string> = ${setOf(
    namesOf(document, (method, one) => method === 'post' && !takesKey(one)),
  )}

/** Operations that need no token. */
export const WITHOUT_TOKEN: ReadonlySet<string> = ${setOf(
    namesOf(document, (_, one) => isOpen(one)),
  )}
`
}

/** Writes the types of the document, by openapi-typescript, and the facts that it does not give. */
export const writeTypescriptClient = (document: string, folder: string): void => {
  const require = createRequire(resolve(folder, 'index.ts'))
  const generator = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js')
  const args = [generator, resolve(document), '-o', resolve(folder, 'schema.ts')]
  // In the client's folder: the generator would read the project's redocly.yaml.
  execFileSync(process.execPath, args, { cwd: folder, stdio: 'ignore' })
  const facts = operationFacts(JSON.parse(readFileSync(document, 'utf8')))
  writeFileSync(join(folder, 'operations.ts'), facts)
}
