import { FLEET } from './fleet.mjs'

/** A few more than the fleet needs, so that a device can be created at once. */
const DEMO_LICENSES = 44

/** Returns an API key of the demo account: the given one while it works, else a new one. */
export async function ensureDemoApiKey(
  base,
  { DEMO_USER_NAME: userName, DEMO_API_KEY: apiKey, ADMIN_TOKEN: adminToken },
) {
  if (apiKey && (await isKeyValid(base, userName, apiKey))) return apiKey

  const callAsOperator = operatorOf(base, adminToken)
  const created = await callAsOperator('/admin/accounts', {
    userName,
    name: 'Demo Shipping',
    licenses: DEMO_LICENSES,
    timeZone: 'Europe/Lisbon',
  })
  if (created.status === 201) return created.reply.apiKey
  if (created.status !== 409) throw failure('creating the demo account', created)

  const account = await findAccount(callAsOperator, userName)
  const key = await callAsOperator(`/admin/accounts/${account.id}/keys`, {
    name: 'demo',
    scopes: ['admin'],
  })
  if (key.status !== 201) throw failure('creating a key for the demo account', key)
  return key.reply.apiKey
}

/** Gives an account that an earlier version created as many licenses as the fleet needs. */
export async function ensureDemoLicenses(
  base,
  { DEMO_USER_NAME: userName, ADMIN_TOKEN: adminToken },
) {
  const callAsOperator = operatorOf(base, adminToken)
  const account = await findAccount(callAsOperator, userName)
  if (account.licenses.total >= FLEET.length) return
  const raised = await callAsOperator(
    `/admin/accounts/${account.id}`,
    { licenses: account.licenses.total + DEMO_LICENSES },
    'PATCH',
  )
  if (raised.status !== 200) throw failure('raising the licenses of the demo account', raised)
}

const operatorOf = (base, adminToken) => (path, body, method) =>
  call(`${base}${path}`, body, { method, Authorization: `Bearer ${adminToken}` })

async function isKeyValid(base, userName, apiKey) {
  const response = await call(`${base}/api/Auth/Token`, { userName, apiKey })
  // 403 means that the key is right and the operator disabled the account; this script leaves it so.
  if (response.status === 200 || response.status === 403) return true
  if (response.status === 400 || response.status === 401) return false
  throw failure('getting a token for the demo account', response)
}

async function findAccount(callAsOperator, userName) {
  let path = '/admin/accounts'
  while (path) {
    const page = await callAsOperator(path)
    if (page.status !== 200) throw failure('listing the accounts', page)
    const account = page.reply.accounts.find((one) => one.userName === userName)
    if (account) return account
    path =
      page.reply.nextCursor && `/admin/accounts?cursor=${encodeURIComponent(page.reply.nextCursor)}`
  }
  throw new Error(`The user name ${userName} is taken, but no account in the list has it.`)
}

async function call(url, body, { method = 'POST', ...headers } = {}) {
  const post = body && { method, body: JSON.stringify(body) }
  const response = await fetch(url, {
    ...post,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
  return { status: response.status, reply: await response.json().catch(() => ({})) }
}

const failure = (action, { status, reply }) =>
  new Error(`${action}: ${status} ${reply.error ?? ''}`)
