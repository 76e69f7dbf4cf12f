import { sql } from 'drizzle-orm'
import { type Database, withWriter } from '../db/open.ts'
import { auditWrite, columnsOfWriter, insertEntry } from '../db/queries/audit.ts'
import { insertSelect } from '../db/query.ts'
import { audit, keyNetworks } from '../db/schema.ts'
import { runBatch, statement } from '../db/statement.ts'
import { type AuditEntry, changesBetween, type Writer } from '../domain/admin/audit.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { base32Time } from '../domain/text/base32.ts'
import { sha256 } from '../domain/text/sha256.ts'
import { deriveId } from '../ids.ts'

/* Sign-ins are counted by the hour, so that nobody can fill the audit with them. */

const HOUR_MS = 3_600_000
/** Of one account, action and hour. */
const MAX_ENTRIES = 100

interface SignIn {
  accountId: string
  action: 'key.signedIn' | 'operator.signedIn' | 'signIn.refused'
  resource: AuditEntry['resource']
  writer: Writer
  /** The network that it came from: each has an entry of its own. */
  network: string
  now: number
}

/** Counts a sign-in in the entry of its hour. */
export const countSignIn = async (db: Database, signIn: SignIn): Promise<void> => {
  const { accountId, action, resource, writer, network, now } = signIn
  const hour = now - (now % HOUR_MS)
  const id = await deriveId('aud', hour, `${accountId} ${action} ${resource.id} ${network}`)
  const first = [{ path: 'attempts', from: null, to: 1 }]
  // An entry that exists goes on counting.
  const others = sql`SELECT count(*) FROM ${audit}
    WHERE ${audit.accountId} = ${accountId} AND ${audit.action} = ${action}
      AND ${audit.id} BETWEEN ${`aud_${base32Time(hour)}`} AND ${`aud_${base32Time(hour + 1)}`}`
  const isKnown = sql`EXISTS (SELECT 1 FROM ${audit}
    WHERE ${audit.accountId} = ${accountId} AND ${audit.id} = ${id})`
  const values = {
    accountId,
    id,
    at: now,
    action,
    resourceType: resource.type,
    resourceId: resource.id,
    changes: first,
    ...columnsOfWriter(writer),
  }
  const add = sql`json_set(${audit.changes}, '$[0].to', 1 + (${audit.changes} ->> '$[0].to'))`
  await statement(
    db,
    insertSelect(
      audit,
      values,
      sql`WHERE (${isKnown} OR (${others}) < ${MAX_ENTRIES}) ON CONFLICT (account_id, id)
        DO UPDATE SET changes = ${add}, at = excluded.at`,
    ),
  ).run()
}

interface SupportUse {
  accountId: string
  keyId: string
  writer: Writer
  method: string
  /** The path with the names of its parameters. */
  route: string
  now: number
}

const MINUTE_MS = 60_000
/** Uses that this isolate has recorded. */
const recorded = new BoundedCache<true>(1000)

/** Records that support uses its access: one entry for each route and minute. */
export const recordSupportUse = async (db: Database, use: SupportUse): Promise<void> => {
  const { accountId, keyId, writer, method, route, now } = use
  const id = await deriveId('aud', now - (now % MINUTE_MS), `${keyId} ${method} ${route}`)
  if (recorded.get(id)) return
  const changes = changesBetween(null, { method, route })
  const resource = { type: 'key', id: keyId }
  const entry = { id, at: now, writer, action: 'support.used', resource, changes }
  await statement(db, insertEntry(accountId, entry)).run()
  recorded.set(id, true)
}

/** The networks that this isolate has seen a key from. */
const seen = new BoundedCache<true>(10_000)
/** Of one key. */
const MAX_NETWORKS = 100

/**
 * Records the first use of a key from a network; null when this isolate has seen it. A report from
 * a known network writes nothing.
 */
export const recordNetwork = (
  db: Database,
  {
    accountId,
    keyId,
    network,
    writer,
    now,
  }: Omit<SignIn, 'action' | 'resource'> & { keyId: string },
): Promise<unknown> | null => {
  const name = `${keyId} ${network}`
  if (seen.get(name)) return null
  seen.set(name, true)
  return insertNetwork(withWriter(db, writer), { accountId, keyId, name, now })
}

const insertNetwork = async (
  db: Database,
  { accountId, keyId, name, now }: { accountId: string; keyId: string; name: string; now: number },
): Promise<void> => {
  const network = (await sha256(name)).toHex()
  const own = sql`SELECT count(*) FROM ${keyNetworks} WHERE ${keyNetworks.keyId} = ${keyId}`
  await runBatch(db, {
    inserted: insertSelect(
      keyNetworks,
      { accountId, keyId, network, creation: now },
      sql`WHERE (${own}) < ${MAX_NETWORKS} ON CONFLICT DO NOTHING`,
    ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'key.usedFromNewNetwork',
      resource: { type: 'key', id: keyId },
    }),
  })
}
