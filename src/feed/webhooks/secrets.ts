import { makeSecret } from './signature.ts'

/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = 86_400_000
const MAX_SECRETS = 5

/** The webhook's first secret. Creates it once: a retry after a crash gets the same one. */
export const ensureSecret = (sql: SqlStorage, webhookId: string, now: number): string => {
  sql.exec(
    `INSERT INTO secrets (id, webhook_id, secret, creation) VALUES (?1, ?1, ?2, ?3)
     ON CONFLICT DO NOTHING`,
    webhookId,
    makeSecret(),
    now,
  )
  return sql.exec<{ secret: string }>('SELECT secret FROM secrets WHERE id = ?', webhookId).one()
    .secret
}

/** Replaces the secret. Repeating a rotation with the same id creates no second secret. */
export const rotateSecret = (
  sql: SqlStorage,
  webhookId: string,
  rotationId: string,
  now: number,
): { secret: string; until: number } => {
  const until = now + OVERLAP_MS
  const [existing] = sql
    .exec<{ secret: string }>('SELECT secret FROM secrets WHERE id = ?', rotationId)
    .toArray()
  if (existing) return { secret: existing.secret, until }
  const secret = makeSecret()
  sql.exec('DELETE FROM secrets WHERE webhook_id = ? AND until <= ?', webhookId, now)
  sql.exec('UPDATE secrets SET until = ? WHERE webhook_id = ? AND until IS NULL', until, webhookId)
  sql.exec(
    'INSERT INTO secrets (id, webhook_id, secret, creation) VALUES (?, ?, ?, ?)',
    rotationId,
    webhookId,
    secret,
    now,
  )
  sql.exec(
    `DELETE FROM secrets WHERE webhook_id = ?1 AND id NOT IN
       (SELECT id FROM secrets WHERE webhook_id = ?1
        ORDER BY until IS NOT NULL, until DESC LIMIT ${MAX_SECRETS})`,
    webhookId,
  )
  return { secret, until }
}

/** The secrets that sign now, the newest first. Never empty, so that nothing is sent unsigned. */
export const readActiveSecrets = (sql: SqlStorage, webhookId: string, now: number): string[] => {
  const active = sql
    .exec<{ secret: string }>(
      `SELECT secret FROM secrets WHERE webhook_id = ? AND (until IS NULL OR until > ?)
       ORDER BY until IS NOT NULL, until DESC`,
      webhookId,
      now,
    )
    .toArray()
  return active.length > 0
    ? active.map(({ secret }) => secret)
    : [ensureSecret(sql, webhookId, now)]
}
