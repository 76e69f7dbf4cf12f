// Serves the built Worker and runs the clients against it: every part, or those that are named.
// A part is a file in parts/ that exports `run(context)` and throws if something is wrong. It
// installs what it needs itself, below `context.folder`.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run as runCommand } from '../../scripts/child.mjs'
import { root, useToolchain } from '../../scripts/toolchain.mjs'

const COMMAND_TIMEOUT_MS = 300_000

await useToolchain()
const { adminToken, bundle, serve, temporaryFolder } = await import('../../lab/harness/server.mjs')
const { openAccount } = await import('../../lab/harness/http.mjs')

const parts = join(root, 'test/clients/parts')
const all = readdirSync(parts).flatMap((file) => /^([\w-]+)\.mjs$/.exec(file)?.[1] ?? [])
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are ${all.join(', ')}.`)
  process.exit(2)
}

const folder = temporaryFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

/** Runs a command on the terminal, and throws unless its exit code is 0. */
async function must(command, args, options = {}) {
  const code = await runCommand(command, args, { timeout: COMMAND_TIMEOUT_MS, ...options })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
}

const failed = []
const selected = named.length > 0 ? named : all
const service = await serve({
  script: bundle(),
  folder: join(folder, 'service'),
  triggers: true,
  vars: { ALLOW_LOOPBACK_WEBHOOKS: 'true' },
})
const url = service.base.replace(/\/$/, '')
for (const name of selected) {
  console.log(`\n── ${name}`)
  const startedAt = Date.now()
  const own = join(folder, name)
  mkdirSync(own)
  let result = 'passed'
  try {
    const { run } = await import(join(parts, `${name}.mjs`))
    await run({
      /** Address of the service, without a slash at its end. */
      url,
      adminToken,
      /** Opens an account: `{ userName, apiKey, token, call(method, path, body), id }`. */
      openAccount: (members) => openAccount(url, adminToken, { licenses: 20, ...members }),
      /** Runs the cron trigger. */
      sweep: () => fetch(`${url}/cdn-cgi/local/scheduled`),
      must,
      root,
      /** An empty folder of this part, deleted at the end. */
      folder: own,
    })
  } catch (problem) {
    console.error(problem)
    failed.push(name)
    result = 'failed'
  }
  console.log(`── ${name}: ${result} after ${Math.round((Date.now() - startedAt) / 1000)} s`)
}
await service.stop()
console.log(`\n${selected.length - failed.length} passed, ${failed.length} failed`)
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)
