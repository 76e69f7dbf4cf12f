declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('../../../src/worker.ts')
  }
  interface Env extends Omit<import('../../../src/env.ts').Env, 'LEDGER' | 'FEED'> {
    LEDGER: DurableObjectNamespace<import('../../../src/worker.ts').AccountLedger>
    FEED: DurableObjectNamespace<import('../../../src/worker.ts').AccountFeed>
    CELL_1: D1Database
    /** Where the providers of the delivery tests listen. */
    PROVIDERS: string
    /** Repeats a run of the model tests. */
    MODEL_SEED?: string
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}

declare module '*?raw' {
  const text: string
  export default text
}
