import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach } from 'vitest'

declare const __vitest_mocker__: {
  moduleRunner: { import(path: string): Promise<unknown> }
}

/*
 * The pool imports the Worker's main module again for every request and every RPC call, and each
 * import asks Vitest's process whether the module has changed. In a run it has not: keeping it
 * makes a call three times as fast.
 */
const { moduleRunner } = __vitest_mocker__
const importModule = moduleRunner.import.bind(moduleRunner)
const imported = new Map<string, unknown>()
moduleRunner.import = async (path) => {
  if (!imported.has(path)) imported.set(path, await importModule(path))
  return imported.get(path)
}

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
await applyD1Migrations(env.CELL_1, env.TEST_MIGRATIONS)

/*
 * Lines that the Worker logs are kept, and printed when their test fails. Vitest itself sends each
 * line to its own process and waits for the replies at the end of the file, but the pool does not
 * send a line that an object logs after the last test: the run would wait for ever.
 */
const logged: (() => void)[] = []
for (const method of ['debug', 'error', 'info', 'log', 'warn'] as const) {
  const print = console[method]
  console[method] = (...values) => void logged.push(() => print(...values))
}
afterEach(({ task }) => {
  const lines = logged.splice(0)
  if (task.result?.state === 'fail') for (const print of lines) print()
})
