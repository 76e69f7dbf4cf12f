// A program asks a user for access by OAuth: the page that asks, what it sends back, and the list of
// sessions. Needs ADMIN_TOKEN of the service at BASE_URL.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@connect.example'

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 4 })
await account.call('POST', '/api/users', {
  ...{ name: 'Ana', email: EMAIL, password: PASSWORD, privileges: ['admin'] },
  ...{ country: 'PT', timeZone: 'UTC' },
})

/** The program: it keeps what the browser brings back. */
const program = createServer((request, response) => {
  response.setHeader('Content-Type', 'text/html')
  response.end(`<title>program</title><link rel="icon" href="data:,"><h1>${request.method}</h1>`)
})
await new Promise((resolve) => program.listen(0, '127.0.0.1', resolve))
const redirectUri = `http://127.0.0.1:${program.address().port}/callback`

const post = async (path, body, type) => {
  const reply = await fetch(base + path, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  })
  return reply.json()
}
const client = await post(
  '/oauth/register',
  JSON.stringify({
    client_name: 'Field <b>assistant</b>',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
  }),
  'application/json',
)
const verifier = randomBytes(32).toString('base64url')
const asking = new URLSearchParams({
  response_type: 'code',
  client_id: client.client_id,
  redirect_uri: redirectUri,
  scope: 'read write admin',
  state: 'of the program',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})
const address = `${base}/oauth/authorize?${asking}`

const page = await visit.open(browser, watch, { bypassCSP: true })
const arrive = async () => {
  await page.waitForURL((url) => url.href.startsWith(redirectUri))
  return new URL(page.url()).searchParams
}

try {
  await check('the page asks after the sign-in, and shows who asks for what', async () => {
    await page.goto(address)
    await page.getByLabel('Account', { exact: true }).fill(account.userName)
    await page.getByLabel('E-mail', { exact: true }).fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Let “Field <b>assistant</b>” act for you?').waitFor()
    await page.getByText('a program on this computer (127.0.0.1').waitFor()
    const boxes = await page.getByRole('checkbox').count()
    expect(boxes === 3, `${boxes} scopes for a user who may do all that is asked for`)
    const isChecked = (name) => page.getByLabel(name, { exact: true }).isChecked()
    expect(await isChecked('Edit'), 'to edit is not preselected')
    expect(!(await isChecked('Administer')), 'to administer is preselected')
    await findViolations(page, 'the consent')
  })

  await check('a refusal goes back to the program without a code', async () => {
    await page.getByRole('button', { name: 'Refuse' }).click()
    const answer = await arrive()
    expect(answer.get('error') === 'access_denied', `error: ${answer.get('error')}`)
    expect(answer.get('state') === 'of the program', 'the state is missing')
    expect(!answer.has('code'), 'there is a code')
  })

  await check('what is allowed is what the program gets', async () => {
    await page.goto(address)
    await page.getByLabel('Edit', { exact: true }).uncheck()
    const allow = page.getByRole('button', { name: 'Allow', exact: true })
    await allow.waitFor()
    // A click that was meant for another window does nothing.
    const isDisabled = await allow.evaluate(async (button) => {
      window.dispatchEvent(new Event('focus'))
      await new Promise((resolve) => setTimeout(resolve, 100))
      return button.disabled
    })
    expect(isDisabled, 'it can be allowed as soon as the page has come forward')
    await allow.click()
    const answer = await arrive()
    const form = {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      code: answer.get('code'),
      code_verifier: verifier,
      redirect_uri: redirectUri,
    }
    const body = new URLSearchParams(form).toString()
    const issued = await post('/oauth/token', body, 'application/x-www-form-urlencoded')
    expect(issued.scope === 'read', `scope: ${issued.scope}`)
    const headers = { Authorization: `Bearer ${issued.access_token}` }
    const read = () => fetch(`${base}/api/devices`, { headers })
    expect((await read()).status === 200, 'the token does not work')
    await page.goto(`${base}/settings/sessions`)
    const row = page.getByRole('listitem').filter({ hasText: 'Field <b>assistant</b>' })
    await row.getByText('Program, may: View').waitFor()
    await row.getByRole('button', { name: 'End access' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await read()).status === 401, 'the token still works')
  })

  await check('a request that somebody has changed is sent nowhere', async () => {
    const changed = new URLSearchParams(asking)
    changed.set('redirect_uri', 'https://evil.example/callback')
    await page.goto(`${base}/oauth/authorize?${changed}`)
    await page.getByText('This request for access is not valid').waitFor()
    await page.goto(`${base}/connect?${changed}`)
    await page.getByText('The program’s request for access is not valid').first().waitFor()
    expect((await page.getByRole('button', { name: 'Allow' }).count()) === 0, 'it can be allowed')
  })
  await check('no page has failed', () => {
    // The browser reports the refusal of the changed request.
    const faults = watch.faults.filter((fault) => !/status of 400/.test(fault))
    expect(faults.length === 0, faults.join('\n'))
  })
} finally {
  program.close()
  await browser.close()
}
report()
