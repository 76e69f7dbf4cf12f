import { waitUntil } from 'cloudflare:workers'
import { serve } from './app.ts'
import { startJoining } from './db/join.ts'
import type { Env } from './env.ts'
import { AccountFeed } from './feed/feed.ts'
import { AccountLedger } from './ledger/ledger.ts'
import { receiveEmailEvents } from './receipts/emailEvents.ts'
import { sweep } from './sweep/sweep.ts'

startJoining(waitUntil)

export { AccountFeed, AccountLedger }

export default {
  fetch: serve,
  async scheduled(controller, env, context) {
    context.waitUntil(sweep(env, controller.scheduledTime))
  },
  /** Events of e-mails that Cloudflare sent, if a queue of them is bound. */
  async queue(batch, env) {
    await receiveEmailEvents(batch, env)
  },
} satisfies ExportedHandler<Env>
