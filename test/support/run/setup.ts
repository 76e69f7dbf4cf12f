import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

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
