import { env } from 'cloudflare:workers'
import { openCell } from '../../../src/db/open.ts'
import { appendEvent } from '../../../src/db/queries/events.ts'
import type { TestAccount } from '../accounts.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read the members they expect
export type EventBody = any

export interface EventRow {
  deviceId: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read the members they expect
  [member: string]: any
}

/** The data of the account's events of one type, in order, as cell 0 stores them. */
export const readEvents = async (account: { id: string }, type: string): Promise<EventRow[]> => {
  const { results } = await env.DB.prepare(
    'SELECT * FROM events WHERE account_id = ? AND type = ? ORDER BY sequence',
  )
    .bind(account.id, type)
    .all<{ data: string; device_id: string }>()
  return results.map(({ data, device_id }) => ({ deviceId: device_id, ...JSON.parse(data) }))
}

/** Appends events to the log without poking the feed, as if every poke were lost. */
export const logWithoutPoke = async (
  account: TestAccount,
  count: number,
  type = 'device.updated',
  deviceId: string | null = null,
  data: object = {},
) => {
  for (let left = count; left > 0; left -= 200) {
    const rows = Array.from({ length: Math.min(left, 200) }, () => crypto.randomUUID())
    const time = Date.now()
    const statements = rows.flatMap((row) =>
      appendEvent(openCell(env, 0), {
        accountId: account.id,
        id: `evt_${row}`,
        type,
        time,
        deviceId,
        data: { name: row, ...data },
      }),
    )
    await env.DB.batch(statements)
  }
}

/** Appends reports whose newest location is as large as possible, about 64 KB. */
export const logLargeReports = async (
  account: TestAccount,
  deviceId: string,
  count: number,
): Promise<void> => {
  const lists = [
    'accessoriesAttributes',
    'inputs',
    'outputs',
    'warningTexts',
    'alertTexts',
    'alerts',
    'warnings',
  ]
  const large = 'x'.repeat(8000)
  const rest = JSON.stringify({
    attributes: { large },
    ...Object.fromEntries(lists.map((name) => [name, [large]])),
  })
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)`
  const [first, time] = [await headOf(account), Date.now()]
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO locations (device_key, time, latitude, longitude, received_at, rest)
       ${numbers} SELECT d.key, ?2 + n, 1, 2, ?2, ?3 FROM numbers, devices d WHERE d.id = ?4`,
    ).bind(count, time, rest, deviceId),
    env.DB.prepare(
      `INSERT INTO events (account_id, sequence, id, type, time, device_id, data)
       ${numbers} SELECT ?2, ?3 + n, ?4 || '_' || (?3 + n), 'location.reported', ?5, ?4, json_object('time', ?5 + n, 'count', 1) FROM numbers`,
    ).bind(count, account.id, first, deviceId, time),
    env.DB.prepare('UPDATE event_heads SET sequence = sequence + ?1 WHERE account_id = ?2').bind(
      count,
      account.id,
    ),
  ])
}

/** The sequence of the account's newest event. */
export const headOf = async (account: TestAccount): Promise<number> =>
  (await env.DB.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
    .bind(account.id)
    .first<number>('sequence')) ?? 0

/** The numbers from `first` to `last`. */
export const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n)
