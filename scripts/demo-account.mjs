/** A working API key of the demo account: the given one if it still gets a token, else a new one. */
export async function demoApiKey(
  base,
  { DEMO_USER_NAME: userName, DEMO_API_KEY: apiKey, ADMIN_TOKEN: adminToken },
) {
  if (apiKey && (await getsToken(base, userName, apiKey))) return apiKey

  const operator = (path, body) =>
    call(`${base}${path}`, body, { Authorization: `Bearer ${adminToken}` })
  const made = await operator('/admin/accounts', {
    userName,
    name: 'Demo Shipping',
    licenses: 25,
    timeZone: 'Europe/Lisbon',
  })
  if (made.status === 201) return made.reply.apiKey
  if (made.status !== 409) throw refused('making the demo account', made)

  const account = await find(operator, userName)
  const key = await operator(`/admin/accounts/${account.id}/keys`, {
    name: 'demo',
    scopes: ['admin'],
  })
  if (key.status !== 201) throw refused('making a key for the demo account', key)
  return key.reply.apiKey
}

async function getsToken(base, userName, apiKey) {
  const answer = await call(`${base}/api/Auth/Token`, { userName, apiKey })
  // 403 is given only once the key has proved right: the operator disabled the account, and that is not ours to undo.
  if (answer.status === 200 || answer.status === 403) return true
  if (answer.status === 400 || answer.status === 401) return false
  throw refused('getting a token for the demo account', answer)
}

async function find(operator, userName) {
  let path = '/admin/accounts'
  while (path) {
    const page = await operator(path)
    if (page.status !== 200) throw refused('listing the accounts', page)
    const account = page.reply.accounts.find((one) => one.userName === userName)
    if (account) return account
    path =
      page.reply.nextCursor && `/admin/accounts?cursor=${encodeURIComponent(page.reply.nextCursor)}`
  }
  throw new Error(`The user name ${userName} is taken, yet no account has it.`)
}

async function call(url, body, headers = {}) {
  const post = body && { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url, {
    ...post,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
  return { status: response.status, reply: await response.json().catch(() => ({})) }
}

const refused = (what, { status, reply }) => new Error(`${what}: ${status} ${reply.error ?? ''}`)
