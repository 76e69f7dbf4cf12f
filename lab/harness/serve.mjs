// The server as a process of its own, so that it can be killed outright and measured from outside. Told what to serve by its
// first argument; says where on its standard output; goes when its standard input closes, as it does when its parent dies.
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
