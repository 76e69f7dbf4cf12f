// The quick part of `npm test`, for while you work: `npm run check`.
import {
  CLI_TYPES,
  CLIENT_TYPES,
  CONSOLE_TYPES,
  FAST_TESTS,
  LINT,
  OTHER_ACCOUNT,
  runStep,
  runTogether,
  secondsSince,
  TYPES,
} from './steps.mjs'
import { useToolchain } from './toolchain.mjs'

await useToolchain()
const start = performance.now()
await runTogether([LINT, TYPES, CONSOLE_TYPES, CLIENT_TYPES, CLI_TYPES])
await runStep(FAST_TESTS)
await runStep(OTHER_ACCOUNT)
console.log(`\nAll passed in ${secondsSince(start)}.`)
