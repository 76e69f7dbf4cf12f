// The Worker with a delay before every call to D1, for `npm run bench -- --delay 20`: a database far
// away. wrangler.toml does not name this file, so no deploy contains it.

import { env } from 'cloudflare:workers'
import worker, { AccountFeed, AccountLedger } from '../../src/worker.ts'

export { AccountFeed, AccountLedger, worker as default }

const { DB: database, DELAY_MS } = env as { DB: D1Database; DELAY_MS?: string }

/** Replaces methods of a prototype that all D1 bindings share. */
const delay = (prototype: Record<string, (...args: unknown[]) => unknown>, methods: string[]) => {
  for (const method of methods) {
    const original = prototype[method]
    prototype[method] = async function (...args) {
      await scheduler.wait(Number(DELAY_MS))
      return original?.apply(this, args)
    }
  }
}

if (DELAY_MS) {
  delay(Object.getPrototypeOf(database), ['batch'])
  delay(Object.getPrototypeOf(database.prepare('SELECT 1')), ['run', 'all', 'first', 'raw'])
}
