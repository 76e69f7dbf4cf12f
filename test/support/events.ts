import { env } from 'cloudflare:workers'

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
