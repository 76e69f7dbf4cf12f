import { serve } from './app.ts'
import type { Env } from './env.ts'
import { AccountFeed } from './feed/feed.ts'
import { AccountLedger } from './ledger/ledger.ts'
import { sweep } from './sweep/sweep.ts'

export { AccountFeed, AccountLedger }

export default {
  fetch: serve,
  async scheduled(controller, env, context) {
    context.waitUntil(sweep(env, controller.scheduledTime))
  },
} satisfies ExportedHandler<Env>
