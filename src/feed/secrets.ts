import { makeSecret } from './signature.ts'

/** How long a secret goes on signing beside the one that replaced it. */
const OVERLAP = 86_400_000
const MAX_SECRETS = 5

/** The webhook's first secret: a retry after a crash meets the same one, since nobody has seen it yet. */
export const firstSecret = (sql: SqlStorage, webhookId: string, now: number): string => {
  sql.exec(
    'INSERT INTO secrets (id, webhook_id, secret, creation) VALUES (?1, ?1, ?2, ?3) ON CONFLICT DO NOTHING',
    webhookId,
    makeSecret(),
    now,
  )
  return sql.exec<{ secret: string }>('SELECT secret FROM secrets WHERE id = ?', webhookId).one()
    .secret
}

/** Replaces the secret. A rotation has an id, so that one carried out again after a crash makes no second secret. */
export const rotateSecret = (
  sql: SqlStorage,
  webhookId: string,
  rotationId: string,
  now: number,
): { secret: string; until: number } => {
  const until = now + OVERLAP
  const made = sql
    .exec<{ secret: string }>('SELECT secret FROM secrets WHERE id = ?', rotationId)
    .toArray()[0]
  if (made) return { secret: made.secret, until }
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
       (SELECT id FROM secrets WHERE webhook_id = ?1 ORDER BY until IS NOT NULL, until DESC LIMIT ${MAX_SECRETS})`,
    webhookId,
  )
  return { secret, until }
}

/** Those that sign now, the current one first; never none, though what was kept be lost: nothing goes out unsigned. */
export const liveSecrets = (sql: SqlStorage, webhookId: string, now: number): string[] => {
  const live = sql
    .exec<{ secret: string }>(
      'SELECT secret FROM secrets WHERE webhook_id = ? AND (until IS NULL OR until > ?) ORDER BY until IS NOT NULL, until DESC',
      webhookId,
      now,
    )
    .toArray()
  return live.length > 0 ? live.map(({ secret }) => secret) : [firstSecret(sql, webhookId, now)]
}
