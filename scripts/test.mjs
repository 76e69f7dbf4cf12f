// Everything a change must pass. `npm test -- devices` runs only the tests whose file names have "devices" in them.
import { run } from './child.mjs'
import { useToolchain } from './toolchain.mjs'

const everything = [
  ['Format and lint', 'biome', 'ci', '.'],
  ['Types', 'tsc'],
  ['Assets', 'node', 'scripts/build.mjs'],
  ['Tests', 'vitest', 'run'],
  ['Schema and migrations in step', 'node', 'scripts/check-migrations.mjs'],
  ['OpenAPI document', 'redocly', 'lint', 'public/api/openapi.json'],
  ['Build', 'wrangler', 'deploy', '--dry-run', '--outdir', 'dist'],
]

await useToolchain()
const filters = process.argv.slice(2)
const steps = filters.length > 0 ? [['Tests', 'vitest', 'run', ...filters]] : everything

const secondsSince = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`
const start = performance.now()
for (const [name, command, ...args] of steps) {
  console.log(`\n── ${name}: ${[command, ...args].join(' ')}`)
  const stepStart = performance.now()
  const code = await run(command, args)
  console.log(
    `── ${name}: ${code === 0 ? 'passed' : `failed (exit code ${code})`} after ${secondsSince(stepStart)}`,
  )
  if (code !== 0) process.exit(code)
}
console.log(`\nAll passed in ${secondsSince(start)}.`)
