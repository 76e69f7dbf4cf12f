/**
 * What a key may do. `write` includes `read` and `ingest`, `execute` is sending commands to devices,
 * and `admin` includes everything.
 */
export const SCOPES = ['ingest', 'read', 'write', 'execute', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** `ingest` reports and does nothing else: its tokens read nothing about their user. */
export const SCOPES_BUT_INGEST = SCOPES.filter((scope) => scope !== 'ingest')

const GRANTS: Record<Scope, readonly Scope[]> = {
  ingest: ['ingest'],
  read: ['read'],
  write: ['ingest', 'read', 'write'],
  execute: ['execute'],
  admin: SCOPES,
}

/** The known scopes among some names, in the order of `SCOPES`. */
export const toScopes = (names: readonly string[]): Scope[] =>
  SCOPES.filter((scope) => names.includes(scope))

export const allows = (held: readonly Scope[], wanted: Scope): boolean =>
  held.some((scope) => GRANTS[scope].includes(wanted))

/** True when `held` grants everything that `asked` grants. */
export const isWithin = (asked: readonly Scope[], held: readonly Scope[]): boolean =>
  asked.every((scope) => GRANTS[scope].every((grant) => allows(held, grant)))

/** The scopes that both `held` and `cap` grant. */
export const intersectScopes = (held: readonly Scope[], cap: readonly Scope[]): Scope[] =>
  SCOPES.filter((scope) => allows(held, scope) && allows(cap, scope))
