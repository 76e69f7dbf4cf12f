/** `support` reads, and asks accounts for access; `billing` reads usage; `owner` may do everything. */
export const OPERATOR_ROLES = ['support', 'billing', 'owner'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** What an operation of the operator needs. */
export type OperatorRight = 'read' | 'usage' | 'support' | 'own'

const RIGHTS: Record<OperatorRole, readonly OperatorRight[]> = {
  support: ['read', 'usage', 'support'],
  billing: ['usage'],
  owner: ['read', 'usage', 'support', 'own'],
}

export const rightsOf = (role: OperatorRole): readonly OperatorRight[] => RIGHTS[role]

export const mayOperate = (role: OperatorRole, right: OperatorRight): boolean =>
  RIGHTS[role].includes(right)

/** How an operator signed in: with ADMIN_TOKEN, with a key, or through Cloudflare Access. */
export type OperatorSignIn = 'token' | 'key' | 'access'

/** How long support has access to an account at most. */
export const MAX_SUPPORT_MINUTES = 480
/** Never `admin`: keys and users that it makes would outlast the access. */
export const SUPPORT_SCOPES = ['read', 'write', 'execute'] as const
