import { spawn } from 'node:child_process'
import { run, waitForExit } from './child.mjs'

/* The steps of `npm test` and `npm run check`. A step is a name, a command and its arguments. */

const COLOURS = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`

export const LINT = ['Format and lint', 'biome', 'ci', '--error-on-warnings', COLOURS, '.']
export const TYPES = ['Types', 'tsc']
export const CONSOLE_TYPES = ['Types of the console', 'tsc', '-p', 'console']
export const CLIENT_TYPES = ['Types of the client', 'tsc', '-p', 'clients/typescript', '--noEmit']
export const CLI_TYPES = [
  'Types of the command line',
  'tsc',
  '-p',
  'clients/typescript/cli',
  '--noEmit',
]
export const MIGRATIONS = [
  'Migrations match the schema',
  'node',
  'scripts/migrations/check-migrations.mjs',
]
export const OPENAPI = ['OpenAPI document', 'redocly', 'lint', 'public/api/openapi.json']
export const COMPATIBLE = ['Compatible API', 'node', 'scripts/build/compatible.ts']
/** Also writes the console and the reference page's bundle to `public/`. */
export const BUILD = ['Build', 'wrangler', 'deploy', '--dry-run', '--outdir', 'dist']
export const TESTS = ['Tests', 'vitest', 'run']
export const FAST_TESTS = [...TESTS, '--project', 'domain', '--project', 'node']
export const OTHER_ACCOUNT = [...TESTS, '--project', 'worker', 'test/worker/otherAccount']

export const secondsSince = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`

/** Runs one step on the terminal and exits when it fails. */
export async function runStep([name, command, ...args]) {
  const start = performance.now()
  console.log(`\n── ${name}: ${[command, ...args].join(' ')}`)
  const code = await run(command, args)
  printResult(name, code, start)
  if (code !== 0) process.exit(code)
}

/** Runs steps in parallel, prints the output of those that fail, and then exits with their code. */
export async function runTogether(steps) {
  const codes = await Promise.all(steps.map(runQuietly))
  const failed = codes.find((code) => code !== 0)
  if (failed !== undefined) process.exit(failed)
}

async function runQuietly([name, command, ...args]) {
  const start = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: withColour() })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part))
  const code = await waitForExit(child)
  if (code !== 0) {
    console.log(`\n── ${name}: ${[command, ...args].join(' ')}`)
    process.stdout.write(Buffer.concat(output))
  }
  printResult(name, code, start)
  return code
}

function printResult(name, code, start) {
  const result = code === 0 ? 'passed' : `failed (exit code ${code})`
  console.log(`── ${name}: ${result} after ${secondsSince(start)}`)
}

/** Tools that write to a pipe leave colours out unless `FORCE_COLOR` is set. */
function withColour() {
  return process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env
}
