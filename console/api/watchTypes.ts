import type { Channel } from '../format/channels.ts'

/* What the API says of check-ins and of places in words. */

/** As it is sent. Either `due` or `everyMinutes`. */
export interface WatchBody {
  name: string
  deviceId: string
  due?: string | null
  everyMinutes?: number | null
  graceMinutes: number
  counts: 'any' | 'message' | 'checkIn'
  remindMinutes: number | null
  alertName: string
  emergency: boolean
  notifications: Channel[]
}

export interface Watch extends WatchBody {
  id: string
  state: 'active' | 'overdue' | 'completed' | 'cancelled'
  nextDue: string
  lastCheckIn: string | null
  creation: string
  lastModified: string
}

type WatchReply = { success: true; watch: Watch }
type LinkReply = { success: true; url: string }

declare module './types.ts' {
  interface Operations {
    'GET /api/watches': {
      reply: { success: true; watches: Watch[]; nextCursor: string | null }
      body: never
    }
    'POST /api/watches': { reply: WatchReply & LinkReply; body: WatchBody }
    'GET /api/watches/{watchId}': { reply: WatchReply; body: never }
    'PATCH /api/watches/{watchId}': { reply: WatchReply; body: Partial<WatchBody> | JsonPatch }
    'DELETE /api/watches/{watchId}': { reply: Done; body: never }
    'POST /api/watches/{watchId}/checkIn': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/extend': { reply: WatchReply; body: { due: string } }
    'POST /api/watches/{watchId}/complete': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/cancel': { reply: WatchReply; body: never }
    'POST /api/watches/{watchId}/link': { reply: LinkReply; body: never }
    'GET /api/place': { reply: { success: true; place: string | null }; body: never }
  }
}
