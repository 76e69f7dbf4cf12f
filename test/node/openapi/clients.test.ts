import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const CLIENT = resolve('test/clients/typescript')

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
  copyFileSync(join(CLIENT, 'use.ts'), join(folder, 'use.ts'))
  const generator = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')
  const generated = run(process.execPath, [generator, 'openapi.json', '-o', 'api.ts'], folder)
  expect(generated).not.toContain('failed')
  const options = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--types', '']
  const compiler = resolve('node_modules/.bin/tsc')
  expect(run(compiler, [...options, 'use.ts'], folder)).toBe('')
}, 30_000)
