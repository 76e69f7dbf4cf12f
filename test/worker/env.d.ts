declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('../../src/worker.ts')
  }
  interface Env extends Omit<import('../../src/env.ts').Env, never> {
    CELL_1: D1Database
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}
