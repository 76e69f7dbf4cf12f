import type { Account } from '../domain/account.ts'
import type { Alert, Delivery, Status } from '../domain/alert.ts'
import type { DayUsage, Device } from '../domain/device.ts'

/** A message as it enters the cell. */
export interface NewDelivery extends Delivery {
  subject: string
  text: string
}

/** What must follow a decision. It is written in the decision's own transaction, and carried out afterwards, in order. */
export type Effect =
  | { kind: 'account'; account: Account; nextExpiry: number | null }
  | { kind: 'device'; accountId: string; device: Device; joins?: string }
  | { kind: 'undelete'; accountId: string; id: string }
  | { kind: 'device-gone'; accountId: string; id: string; key: number; at: number }
  | {
      kind: 'event'
      accountId: string
      id: string
      type: string
      time: number
      deviceId: string | null
      data: Record<string, unknown>
    }
  | { kind: 'usage'; key: number; usage: DayUsage; contact?: number }
  | { kind: 'contact'; key: number; at: number }
  | { kind: 'alert'; accountId: string; key: number; alert: Alert; messages: number }
  | { kind: 'messages'; accountId: string; key: number; messages: NewDelivery[]; at: number }
  | {
      kind: 'message-state'
      accountId: string
      id: string
      status: Status
      reason: string | null
      provider: string | null
      attempts: number
      at: number
    }
  | { kind: 'memberships'; accountId: string }
  | { kind: 'events-jump'; accountId: string; to: number }
  | { kind: 'account-gone'; accountId: string; at: number }
  | { kind: 'directory'; account: Account }
  | { kind: 'directory-gone'; accountId: string; cell: number }

export type Posted = Effect & { seq: number }

export const post = (sql: SqlStorage, effect: Effect): void => {
  sql.exec('INSERT INTO outbox (effect) VALUES (?)', JSON.stringify(effect))
}

/** The number that the last effect had, whether or not it is still here. */
const lastPosted = (sql: SqlStorage): number =>
  sql.exec<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").toArray()[0]
    ?.seq ?? 0

/** Numbers the effects to come from beyond `seq`: a ledger that was set back would repeat numbers that its cell has seen. */
export const numberBeyond = (sql: SqlStorage, seq: number): void => {
  if (lastPosted(sql) >= seq) return
  sql.exec('INSERT INTO outbox (seq, effect) VALUES (?, ?)', seq, '')
  sql.exec('DELETE FROM outbox WHERE seq = ?', seq)
}

const PAGE = 50
const PAGE_SIZE = 1_000_000

/** The oldest effects that go to the same database. */
export const pending = (sql: SqlStorage): Posted[] => {
  const rows: { seq: number; effect: string }[] = []
  let size = 0
  for (const row of sql.exec<{ seq: number; effect: string }>(
    'SELECT seq, effect FROM outbox ORDER BY seq LIMIT ?',
    PAGE,
  )) {
    size += row.effect.length
    if (rows.length > 0 && size > PAGE_SIZE) break
    rows.push(row)
  }
  const effects = rows.map(({ seq, effect }) => ({ ...(JSON.parse(effect) as Effect), seq }))
  const first = effects[0]
  const apart = effects.findIndex(
    (effect) => goesToDirectory(effect) !== (first !== undefined && goesToDirectory(first)),
  )
  return apart === -1 ? effects : effects.slice(0, apart)
}

export const goesToDirectory = (effect: Effect): boolean =>
  effect.kind === 'directory' || effect.kind === 'directory-gone'

/** `lastEvent` is remembered: a head behind it tells that the cell has been set back. */
export const settle = (sql: SqlStorage, upTo: number, lastEvent: number): void => {
  sql.exec('DELETE FROM outbox WHERE seq <= ?', upTo)
  sql.exec('UPDATE account SET events_seen = max(events_seen, ?)', lastEvent)
}

export const isEmpty = (sql: SqlStorage): boolean =>
  sql.exec('SELECT 1 FROM outbox LIMIT 1').toArray().length === 0
