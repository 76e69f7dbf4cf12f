import { app } from './app.ts'
import type { Env } from './env.ts'
import { AccountFeed } from './feed/feed.ts'
import { turnAway } from './http/edge.ts'
import { enter, leave } from './http/room.ts'
import { AccountLedger } from './ledger/ledger.ts'
import { sweep } from './sweep/sweep.ts'

export { AccountFeed, AccountLedger }

export default {
  async fetch(request, env, context) {
    if (!enter(request, Date.now())) return turnAway(request)
    try {
      return await app.fetch(request, env, context)
    } finally {
      leave(request)
    }
  },
  async scheduled(controller, env, context) {
    context.waitUntil(sweep(env, controller.scheduledTime))
  },
} satisfies ExportedHandler<Env>
