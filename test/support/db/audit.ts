import { env } from 'cloudflare:workers'
import type { Change } from '../../../src/domain/admin/audit.ts'
import type { Caller } from '../accounts.ts'

export interface Entry {
  id: string
  at: string
  actor: { type: string; id: string; name: string | null }
  action: string
  resource: { type: string; id: string }
  changes: Change[]
  requestId: string
  address: string | null
  account?: string | null
  accountName?: string | null
}

/** The entries that a query finds, newest first. */
export const auditOf = async (account: Caller, query = ''): Promise<Entry[]> =>
  (await account.call('GET', `/api/account/audit?${query}`)).body.entries

export const actionsOf = async (account: Caller, query = ''): Promise<string[]> =>
  (await auditOf(account, query)).map(({ action }) => action)

export interface StoredAuditRow {
  account_id: string
  actor_type: string
  actor_id: string
  action: string
  resource_type: string
  resource_id: string
  request_id: string
  address: string | null
}

/** The rows of these requests in both cells. */
export const rowsOfRequests = async (requestIds: string[]): Promise<StoredAuditRow[]> => {
  const found = await Promise.all(
    [env.DB, env.CELL_1].map((db) =>
      db
        .prepare('SELECT * FROM audit WHERE request_id IN (SELECT value FROM json_each(?))')
        .bind(JSON.stringify(requestIds))
        .all<StoredAuditRow>(),
    ),
  )
  return found.flatMap(({ results }) => results)
}
