// Runs the server in its own process, so that it can be killed and its memory measured. The first
// argument holds its options as JSON; its address is the first line of its output; it stops when
// its input closes, as it does when its parent ends.
import { readFileSync } from 'node:fs'
import { useToolchain } from '../../scripts/toolchain.mjs'

await useToolchain()
const { serve } = await import('./server.mjs')
const { scriptFile, ...options } = JSON.parse(process.argv[2])
const { base, stop } = await serve({ ...options, script: readFileSync(scriptFile, 'utf8') })
console.log(base)
process.stdin.resume()
process.stdin.on('end', async () => {
  await stop()
  process.exit(0)
})
