// Writes the OpenAPI document of the current routes to public/api/openapi.json, and from it the
// types of the console and of the clients, the collections, public/llms.txt, and the table of
// endpoints in docs/design.md.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type ApiDocument, apiTypes } from '../../console/build/apiTypes.ts'
import manifest from '../../package.json' with { type: 'json' }
import { app } from '../../src/app.ts'
import { openapiDocument } from '../../src/openapi/document.ts'
import { EVENT_WEBHOOKS } from '../../src/openapi/webhooks.ts'
import { writeCollections } from './collections/index.ts'
import { withEndpoints } from './endpoint-table.ts'
import { writePython } from './python/index.ts'
import { writeTypescriptClient } from './typescriptClient.ts'

const target = 'public/api/openapi.json'
const document = openapiDocument(app, { version: manifest.version, webhooks: EVENT_WEBHOOKS })

mkdirSync('public/api', { recursive: true })
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`)
console.log(`${target}: ${Object.keys(document.paths ?? {}).length} paths`)

const types = 'console/api/types.ts'
writeFileSync(types, apiTypes(JSON.parse(JSON.stringify(document)) as ApiDocument))
execFileSync('biome', ['format', '--write', types], { stdio: 'ignore' })

writePython(document)
writeCollections(document)
writeTypescriptClient(target, 'clients/typescript/src')

const design = 'docs/design.md'
writeFileSync(design, withEndpoints(readFileSync(design, 'utf8'), document))
