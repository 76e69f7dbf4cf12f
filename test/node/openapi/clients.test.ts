import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { operationFacts } from '../../../scripts/build/typescriptClient.ts'

const CLIENT = resolve('clients/typescript')
const read = (path: string): string => readFileSync(path, 'utf8')

/** What the command prints; also when it fails. */
const run = (command: string, args: string[], cwd: string): string => {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return `failed: ${stdout}${stderr}`
  }
}

test('the types that openapi-typescript generates by default compile and fit what clients write', () => {
  // Not in the project: the generator would read its redocly.yaml, which no client has.
  const folder = mkdtempSync(join(tmpdir(), 'perigee-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  copyFileSync('public/api/openapi.json', join(folder, 'openapi.json'))
  copyFileSync('test/clients/types/use.ts', join(folder, 'use.ts'))
  const generator = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')
  const generated = run(process.execPath, [generator, 'openapi.json', '-o', 'api.ts'], folder)
  expect(generated).not.toContain('failed')
  // `npm run openapi` writes them into the client.
  const isCurrent = read(join(folder, 'api.ts')) === read(join(CLIENT, 'src/schema.ts'))
  expect(isCurrent).toBe(true)
  const options = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--types', '']
  const compiler = resolve('node_modules/.bin/tsc')
  expect(run(compiler, [...options, 'use.ts'], folder)).toBe('')
}, 30_000)

test('the facts about operations that the client carries are those of the document', () => {
  const facts = operationFacts(JSON.parse(read('public/api/openapi.json')))
  expect(read(join(CLIENT, 'src/operations.ts'))).toBe(facts)
})
