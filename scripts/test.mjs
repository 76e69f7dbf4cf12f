// Everything a change must pass: `npm test`. With arguments it runs vitest alone and hands them on:
// `npm test -- groups -t 'part of a test name'`.
import { run } from './child.mjs'
import {
  BUILD,
  CLI_TYPES,
  CLIENT_TYPES,
  COMPATIBLE,
  CONSOLE_TYPES,
  LINT,
  MIGRATIONS,
  OPENAPI,
  runStep,
  runTogether,
  secondsSince,
  TESTS,
  TYPES,
} from './steps.mjs'
import { useToolchain } from './toolchain.mjs'

await useToolchain()
const [, command, ...args] = TESTS
const given = process.argv.slice(2)
if (given.length > 0) process.exit(await run(command, [...args, ...given]))

const start = performance.now()
// Before the tests, not beside them: a lint error shows within seconds, and the tests keep both cores.
const CHECKS = [
  LINT,
  TYPES,
  CONSOLE_TYPES,
  CLIENT_TYPES,
  CLI_TYPES,
  MIGRATIONS,
  OPENAPI,
  COMPATIBLE,
  BUILD,
]
await runTogether(CHECKS)
await runStep(TESTS)
console.log(`\nAll passed in ${secondsSince(start)}.`)
