/** What a key may do: `write` reads and reports too, `admin` does everything. */
export const SCOPES = ['ingest', 'read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

const GRANTS: Record<Scope, readonly Scope[]> = {
  ingest: ['ingest'],
  read: ['read'],
  write: ['ingest', 'read', 'write'],
  admin: SCOPES,
}

export const allows = (held: readonly Scope[], wanted: Scope): boolean =>
  held.some((scope) => GRANTS[scope].includes(wanted))

/** True when everything that `asked` grants is granted by `held` too. */
export const isWithin = (asked: readonly Scope[], held: readonly Scope[]): boolean =>
  asked.every((scope) => GRANTS[scope].every((grant) => allows(held, grant)))

/** What is left of `held` where no more than `cap` is allowed. */
export const narrowed = (held: readonly Scope[], cap: readonly Scope[]): Scope[] =>
  SCOPES.filter((scope) => allows(held, scope) && allows(cap, scope))
