// Runs one of the project's tools after installing what is missing: `node scripts/run.mjs tsc`.
import { run } from './child.mjs'
import { useToolchain } from './toolchain.mjs'

await useToolchain()
const [command, ...args] = process.argv.slice(2)
process.exit(await run(command, args))
