import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { Operator } from './store.ts'

export const presentOperator = (row: Operator, now: number) => ({
  id: row.id,
  name: row.name,
  role: row.role,
  email: row.email,
  hasKey: row.hash !== null,
  expires: isoOrNull(row.expires),
  oldKeyUntil: isoOrNull(row.oldExpires !== null && row.oldExpires > now ? row.oldExpires : null),
  lastUsed: isoOrNull(row.lastUsed),
  creation: iso(row.creation),
  lastModified: iso(row.lastModified),
})
