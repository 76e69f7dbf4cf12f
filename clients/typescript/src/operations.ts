// Written by `npm run openapi` from public/api/openapi.json. Do not edit.

/** A POST that takes no `Idempotency-Key`. */
export const WITHOUT_KEY: ReadonlySet<string> = new Set([
  'POST /api/Auth/Token',
  'POST /api/Auth/SignIn',
  'POST /api/Auth/Refresh',
  'POST /api/Auth/SignOut',
  'POST /api/Auth/Reset',
  'POST /api/Auth/Password',
  'POST /api/Auth/Consent',
  'POST /api/account/export',
  'POST /api/account/sandbox/keep',
  'POST /api/rules/{ruleId}/test',
  'POST /api/watches/{watchId}/link',
  'POST /api/sources/decode',
  'POST /admin/accounts/import',
  'POST /admin/accounts/{accountId}/export',
  'POST /admin/accounts/{accountId}/undelete',
  'POST /admin/accounts/{accountId}/keep',
  'POST /admin/accounts/{accountId}/move',
])

/** Operations that need no token. */
export const WITHOUT_TOKEN: ReadonlySet<string> = new Set([
  'GET /healthz',
  'GET /api/openapi.json',
  'POST /api/Auth/Token',
  'POST /api/Auth/SignIn',
  'POST /api/Auth/Reset',
  'POST /api/Auth/Password',
  'GET /api/push/key',
])
