import type { Channel } from '../format/channels.ts'

/* What the document says of check-ins and of places in words, until `types.ts` is written from it. */

type WatchCounts = 'any' | 'message' | 'checkIn'

/** As it is sent. Either `due` or `everyMinutes`. */
export type WatchBody = {
  name: string
  deviceId: string
  due?: string | null
  everyMinutes?: number | null
  graceMinutes?: number | null
  counts?: WatchCounts | null
  remindMinutes?: number | null
  alertName?: string | null
  emergency?: boolean | null
  notifications?: Channel[] | null
}

export type Watch = {
  id: string
  name: string
  deviceId: string
  due: string | null
  everyMinutes: number | null
  graceMinutes: number
  counts: WatchCounts
  remindMinutes: number | null
  alertName: string
  emergency: boolean
  notifications: Channel[]
  state: 'active' | 'overdue' | 'completed' | 'cancelled'
  nextDue: string
  lastCheckIn: string | null
  creation: string
  lastModified: string
}

type WatchReply = { success: true; watch: Watch }

declare module './types.ts' {
  interface Operations {
    'GET /api/watches': {
      reply: { success: true; watches: Watch[]; nextCursor: string | null }
      body: never
    }
    'POST /api/watches': {
      reply: { success: true; watch: Watch; url: string }
      body: WatchBody | { watch: WatchBody }
    }
    'GET /api/watches/{watchId}': { reply: WatchReply; body: never }
    'PATCH /api/watches/{watchId}': {
      reply: WatchReply
      body: Partial<WatchBody> | { watch: Partial<WatchBody> } | JsonPatch
    }
    'DELETE /api/watches/{watchId}': { reply: Done; body: never }
    'POST /api/watches/{watchId}/checkIn': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/extend': { reply: WatchReply; body: { due: string } }
    'POST /api/watches/{watchId}/complete': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/cancel': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/link': { reply: { success: true; url: string }; body: never }
    'GET /api/place': { reply: { success: true; place: string | null }; body: never }
  }
}
