import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { listAlerts } from '../../../src/alerts/list.ts'
import type { Database } from '../../../src/db/open.ts'
import type { Viewer } from '../../../src/db/queries/visibility.ts'
import { listMessages } from '../../../src/messages/store.ts'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'

const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

describe('paging returns every lasting row exactly once while other rows', () => {
  /** The same database, where something happens after each round trip. */
  const withChanges = (happens: () => Promise<unknown>): Database => {
    const disturbed = async <T>(work: Promise<T>): Promise<T> => {
      const answer = await work
      await happens()
      return answer
    }
    const prepare = (sql: string) => ({
      bind: (...values: unknown[]) => {
        const statement = env.DB.prepare(sql).bind(...values)
        const [all, first] = [statement.all.bind(statement), statement.first.bind(statement)]
        return Object.assign(statement, {
          all: () => disturbed(all()),
          first: (column: string) => disturbed(first(column)),
        })
      },
    })
    return {
      $client: { prepare, batch: (list: D1PreparedStatement[]) => disturbed(env.DB.batch(list)) },
    } as unknown as Database
  }

  type Place = (string | number)[] | null
  type Read = (
    db: Database,
    viewer: Viewer,
    after: Place,
  ) => Promise<{ rows: { id: string }[]; next: Place }>
  const READ: Record<'alerts' | 'messages', Read> = {
    alerts: async (db, viewer, after) => {
      const span = { deviceId: null, from: 0, to: 9e15, name: undefined }
      const page = await listAlerts(db, viewer, { ...span, sort: '-dateTime', after, limit: 1000 })
      return { rows: page?.alerts ?? [], next: page?.next ?? null }
    },
    messages: async (db, viewer, after) => {
      const all = {
        status: undefined,
        channel: undefined,
        deviceId: undefined,
        alertId: undefined,
        includesNotices: false,
      }
      const place = after === null ? undefined : String(after[0])
      return listMessages(db, viewer, { ...all, after: place, limit: 1000 })
    },
  }
  /** One in ten is of the device, the others of one that is being erased. */
  const INSERT = {
    alerts: `INSERT INTO alerts (account_id, device_key, id, time, name, text, messages)
      SELECT ?1, iif(i % 10, -1, ?2), 'alr_' || ?1 || printf('%06d', i), i, 'Often', '', 0`,
    messages: `INSERT INTO messages (account_id, device_key, id, channel, recipient, subject, text, status, attempts, changed, seq)
      SELECT ?1, iif(i % 10, -1, ?2), 'msg_' || ?1 || printf('%06d', i), 'SMS', '', '', '', 'sent', 1, 1, 1`,
  }
  const [STOOD, ADDED] = [5500, 50]

  test.each(
    (['alerts', 'messages'] as const).flatMap((table) =>
      ['come', 'go'].flatMap((change) =>
        [true, false].map((confined) => ({ table, change, confined })),
      ),
    ),
  )(
    'of $table $change, for a user confined to a group: $confined',
    async ({ table, change, confined }) => {
      const account = await openAccount()
      const deviceId = await createDevice(account)
      const { body: group } = await account.call('POST', '/api/groups', {
        body: { name: 'North', devices: [deviceId] },
      })
      const key = await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
        .bind(deviceId)
        .first<number>('key')
      const add = (from: number, to: number) =>
        env.DB.prepare(
          `WITH RECURSIVE n(i) AS (SELECT ?3 UNION ALL SELECT i + 1 FROM n WHERE i < ?4) ${INSERT[table]} FROM n`,
        )
          .bind(account.id, key, from, to)
          .run()
      const idOf = (i: number) =>
        `${table === 'alerts' ? 'alr' : 'msg'}_${account.id}${String(i).padStart(6, '0')}`
      let newest = change === 'come' ? STOOD : STOOD + 20 * ADDED
      await add(1, newest)
      const happens = async () => {
        const before = newest
        newest = change === 'come' ? newest + ADDED : Math.max(STOOD, newest - ADDED)
        if (newest > before) await add(before + 1, newest)
        else
          await env.DB.prepare(`DELETE FROM ${table} WHERE account_id = ? AND id > ?`)
            .bind(account.id, idOf(newest))
            .run()
      }
      const viewer = { accountId: account.id, groupId: confined ? group.id : null }
      const seen: string[] = []
      for (let after: Place = null, begun = false; !begun || after; begun = true) {
        const page = await READ[table](withChanges(happens), viewer, after)
        seen.push(...ids(page.rows))
        after = page.next
      }
      const stood = Array.from({ length: STOOD / 10 }, (_, index) => idOf(STOOD - index * 10))
      expect(seen.filter((id) => id <= idOf(STOOD))).toEqual(stood)
    },
  )
})
