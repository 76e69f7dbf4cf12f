// Runs accounts as an operator does, and sees in the console what a suspended account sees.
// Needs ADMIN_TOKEN of the service at BASE_URL.
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, pressUntil, settle, visit } from './support/visit.mjs'

const { ADMIN_TOKEN } = process.env
const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@operator.example'
const EVIL = '<img src=x onerror=alert(1)>'
const LOOKS = [
  { viewport: { width: 375, height: 812 }, colorScheme: 'dark' },
  { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
]

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 3, name: `Tern ${EVIL}` })
await account.call('POST', '/api/users', {
  name: 'Ana',
  email: EMAIL,
  country: 'PT',
  timeZone: 'UTC',
  password: PASSWORD,
  privileges: ['admin'],
})
const { account: own } = await account.call('GET', '/api/account')
const ship = await account.addDevice({ name: 'Tern 7' })
const page1 = `/operator/accounts/${own.id}`

const admin = async (method, path, body, token = ADMIN_TOKEN) => {
  const response = await fetch(`${base}/admin${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}
const setStatus = (status, statusMessage) =>
  admin('PATCH', `/accounts/${own.id}`, { status, statusMessage })
const readStatus = async () => (await admin('GET', `/accounts/${own.id}`)).account

async function signIn(page, key) {
  await page.goto(`${base}/operator`)
  await page.getByLabel('Operator key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function openOperator(key, look = LOOKS[1]) {
  const page = await visit.open(browser, watch, { ...look, bypassCSP: true })
  await signIn(page, key)
  await page.locator('.shell').waitFor()
  return page
}

async function isFine(page, { viewport }, name) {
  await settle(page)
  const violations = await findViolations(page, name)
  expect(violations.length === 0, JSON.stringify(violations))
  const shown = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(shown <= viewport.width, `${name} is ${shown} px wide`)
}

const dialogOf = (page) => page.getByRole('dialog')
/** Types the name that the worst actions ask for. */
async function confirmByName(page, button) {
  const confirm = dialogOf(page).getByRole('button', { name: button, exact: true })
  expect(await confirm.isDisabled(), 'it is not asked for the user name')
  await dialogOf(page).getByRole('textbox').fill(own.userName)
  await confirm.click()
  await dialogOf(page).waitFor({ state: 'detached' })
}

try {
  await check(
    'the console does not load the pages, and nobody may index or frame them',
    async () => {
      const page = await visit.open(browser, watch)
      const loaded = []
      page.on('request', (request) => loaded.push(request.url()))
      await page.goto(base)
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
      expect(!loaded.some((url) => url.includes('Operator')), 'the first load has the pages')
      const { headers } = await fetch(`${base}${page1}`)
      expect(headers.get('X-Robots-Tag')?.includes('noindex'), 'they may be indexed')
      expect(headers.get('Cache-Control') === 'no-store', 'they may be kept')
      const policy = headers.get('Content-Security-Policy') ?? ''
      expect(/default-src 'none'.*frame-ancestors 'none'/.test(policy), `the policy is ${policy}`)
      await page.context().close()
    },
  )

  await check('a wrong key is refused, a right one is kept in its tab alone', async () => {
    const page = await visit.open(browser, watch)
    await signIn(page, 'wrong-wrong-wrong-wrong-wrong-wrong-wrong')
    await page.locator('.refusal', { hasText: 'The token is not an operator’s' }).waitFor()
    await page.getByLabel('Operator key', { exact: true }).fill(ADMIN_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Accounts' }).waitFor()
    const kept = await page.evaluate(() => JSON.stringify(localStorage))
    expect(!kept.includes(ADMIN_TOKEN), 'the key is in the browser’s storage')
    await page.reload()
    await page.getByRole('heading', { name: 'Accounts' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Operator key', { exact: true }).waitFor()
    await page.reload()
    await page.getByLabel('Operator key', { exact: true }).waitFor()
    await page.context().close()
  })

  for (const look of LOOKS) {
    const at = `at ${look.viewport.width} px, ${look.colorScheme}`
    const page = await openOperator(ADMIN_TOKEN, look)

    await check(`an account is found by its user name, ${at}`, async () => {
      await page.getByRole('searchbox').fill(own.userName)
      const rows = page.locator('tbody tr')
      await rows.filter({ hasText: own.userName }).waitFor()
      await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
      await isFine(page, look, `the accounts ${at}`)
      await page.getByLabel('State', { exact: true }).selectOption('disabled')
      await page.getByText('Nothing found').waitFor()
      await page.getByLabel('State', { exact: true }).selectOption('active')
      await rows.getByRole('link').click()
      await page.getByRole('heading', { name: own.name }).waitFor()
      await page.getByText('1 of 3', { exact: true }).waitFor()
      await isFine(page, look, `the account ${at}`)
    })

    await check(`every page is wide enough and accessible, ${at}`, async () => {
      for (const path of ['usage', 'health', 'audit', 'operators', 'nothing']) {
        await openPath(page, `/operator/${path}`)
        if (path === 'audit') await page.locator('tbody summary').first().click()
        await isFine(page, look, `${path} ${at}`)
      }
    })
    await page.context().close()
  }

  const page = await openOperator(ADMIN_TOKEN)

  await check('licenses and limits are changed, and a wrong one is explained', async () => {
    await openPath(page, page1)
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialogOf(page).getByLabel('Licenses', { exact: true }).fill('5')
    await dialogOf(page).getByLabel('Zones', { exact: true }).fill('-1')
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await page.locator('.field-error', { hasText: 'Zones must be at least 0' }).waitFor()
    await dialogOf(page).getByLabel('Zones', { exact: true }).fill('7')
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 of 5', { exact: true }).waitFor()
    const { budgets, licenses } = await readStatus()
    expect(licenses.total === 5 && budgets.maxZones === 7, JSON.stringify(budgets))
  })

  await check('an account is suspended by keyboard; the question says what it does', async () => {
    await page.getByRole('radio', { name: /^Active/ }).focus()
    for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
    await page.getByLabel('Message to the account').fill('Please pay invoice 7.')
    await pressUntil(page, 'Tab', (one) => one.textContent === 'Change the status')
    await page.keyboard.press('Enter')
    await dialogOf(page).getByText('nothing can be changed').waitFor()
    await dialogOf(page).getByText('Emergencies are raised and sent').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Change it' }).click()
    await page.locator('.page-header .badge', { hasText: 'Read only' }).waitFor()
    const { status, statusMessage } = await readStatus()
    expect(status === 'readOnly' && statusMessage === 'Please pay invoice 7.', status)
  })

  const console1 = await visit.open(browser, watch)
  await check('a suspended account sees why, and what is refused', async () => {
    const signedIn = { account: own.userName, email: EMAIL, password: PASSWORD }
    await visit.signIn(console1, signedIn)
    await console1.locator('.notice', { hasText: 'Please pay invoice 7.' }).waitFor()
    await openPath(console1, '/devices/new')
    await console1.getByLabel('Name', { exact: true }).fill('Refused')
    await console1.getByRole('button', { name: 'Create the device' }).click()
    await console1.locator('.refusal', { hasText: 'can be read, but not changed' }).waitFor()
  })

  await check('an account that only takes reports sees one page that says so', async () => {
    await setStatus('ingestOnly', 'Call us.')
    await console1.evaluate(() => history.replaceState(null, '', '/devices'))
    await console1.reload()
    await console1.getByRole('heading', { name: 'This account is suspended' }).waitFor()
    await console1.getByText('Call us.').waitFor()
    expect((await console1.locator('nav').count()) === 0, 'there is a menu')
    await setStatus('notice', 'Thank you.')
    await console1.getByRole('button', { name: 'Try again' }).click()
    await console1.locator('.notice', { hasText: 'Thank you.' }).waitFor()
    await setStatus('active', '')
  })

  await check('a deleted device is listed for some days, and restored', async () => {
    await account.call('DELETE', `/api/devices/${ship.id}`)
    await openPath(console1, '/devices?state=deleted')
    const row = console1.locator('tbody tr', { hasText: 'Tern 7' })
    await row.getByText('6 more days').waitFor()
    await row.getByRole('button', { name: 'Restore' }).click()
    await console1.getByRole('heading', { name: 'Tern 7' }).waitFor()
    await account.call('GET', `/api/devices/${ship.id}`)
  })

  await check('an account sees who of the support has access, and ends it', async () => {
    const body = { reason: 'Ticket 9', minutes: 15, scopes: ['read'] }
    await admin('POST', `/accounts/${own.id}/support`, body)
    await console1.reload()
    const notice = console1.locator('.notice', { hasText: 'Ticket 9' })
    await notice.getByRole('button', { name: 'End it' }).click()
    await notice.waitFor({ state: 'detached' })
    expect((await readStatus()).support.length === 0, 'the access lasts')
  })

  await check('its audit has names, what changed, and filters from a row', async () => {
    await openPath(console1, '/settings/audit?action=device')
    const row = console1.locator('tbody tr', { hasText: 'Device deleted' })
    await row.getByRole('link', { name: 'Tern 7' }).waitFor()
    await row.locator('summary').click()
    await row.getByText('Name: Tern 7 → empty').waitFor()
    await row.getByRole('link', { name: 'this item' }).click()
    await console1.getByRole('button', { name: 'Of one item only' }).waitFor()
    for (const action of ['created', 'deleted', 'restored'])
      await console1.getByRole('cell', { name: `Device ${action}` }).waitFor()
    await console1.getByLabel('Who', { exact: true }).selectOption('user')
    await console1.getByRole('cell', { name: 'Device created' }).waitFor({ state: 'detached' })
    await console1.getByRole('cell', { name: 'Device restored' }).waitFor()
    await console1.getByLabel('Until', { exact: true }).fill('2020-01-01T00:00')
    await console1.getByText('Nothing found').waitFor()
  })

  await check('it sees its usage of a month, not of months before it was opened', async () => {
    await openPath(console1, '/settings/usage')
    const figure = (label) => console1.locator('dl', { hasText: label })
    await figure('License-days').getByText('Requests').waitFor()
    await console1.getByText('Not closed yet').waitFor()
    for (const name of ['Earlier month', 'Later month'])
      expect(await console1.getByRole('button', { name }).isDisabled(), `${name} is offered`)
    const saving = console1.waitForEvent('download')
    await console1.getByRole('button', { name: 'Download CSV' }).click()
    const file = (await saving).suggestedFilename()
    expect(/^usage-\d{4}-\d\d\.csv$/.test(file), file)
  })
  await console1.context().close()

  await check('an account is deleted by its user name, and brought back', async () => {
    await openPath(page, '/operator')
    await openPath(page, page1)
    await page.getByRole('button', { name: 'Delete the account' }).click()
    await confirmByName(page, 'Delete the account')
    await page.locator('.page-header .badge', { hasText: 'Deleted' }).waitFor()
    expect((await readStatus()).deletedAt !== null, 'it is not deleted')
    await page.getByRole('button', { name: 'Bring it back' }).click()
    await page.locator('.page-header .badge', { hasText: 'Active' }).waitFor()
    expect((await readStatus()).deletedAt === null, 'it is still deleted')
  })

  await check('support gets access with a reason, sees the account, and leaves', async () => {
    await page.getByLabel('Reason', { exact: true }).fill('Ticket 12')
    await page.getByRole('button', { name: 'Get access' }).click()
    await dialogOf(page).getByText('Token', { exact: true }).waitFor()
    await dialogOf(page).getByRole('button', { name: 'Open its console' }).click()
    await page.locator('.notice', { hasText: `Support access to ${own.name}` }).waitFor()
    await openPath(page, `/devices/${ship.id}`)
    await page.getByRole('heading', { name: 'Tern 7' }).waitFor()
    const edit = page.getByRole('link', { name: 'Edit' })
    expect((await edit.count()) === 0, 'support may change the device')
    await page.locator('.notice').getByRole('button', { name: 'Leave' }).click()
    await page.getByText('Ticket 12').waitFor()
    const { entries } = await account.call('GET', '/api/account/audit?actor=operator')
    expect(
      entries.some(({ action }) => action.startsWith('support.')),
      'the account’s audit has nothing of it',
    )
  })

  await check('the audit shows who changed what', async () => {
    await page.getByRole('link', { name: 'Audit of this account' }).click()
    const row = page.locator('tbody tr', { hasText: 'Account changed' }).first()
    await row.locator('summary').click()
    await row.getByText('Thank you.').first().waitFor()
    await row.getByRole('link', { name: 'this action' }).click()
    await page.getByRole('button', { name: 'Account changed' }).waitFor()
    await page.getByLabel('Account', { exact: true }).fill(own.userName)
    await page.waitForFunction((name) => location.search.includes(name), own.userName)
    const others = page.locator('tbody tr').filter({ hasNotText: own.name })
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length > 0)
    await others.first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Account changed' }).click()
    await page.getByLabel('What', { exact: true }).selectOption('support')
    await page.locator('tbody tr', { hasText: 'Support started' }).first().waitFor()
  })

  await check('usage of a month is shown, and saved as CSV', async () => {
    await openPath(page, '/operator/usage')
    await page.locator('tbody tr', { hasText: own.userName }).waitFor()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    const file = await saving
    expect(/^usage-\d{4}-\d\d\.csv$/.test(file.suggestedFilename()), file.suggestedFilename())
  })

  await check('health names every cell', async () => {
    await openPath(page, '/operator/health')
    await page.getByRole('heading', { name: 'Cell 0' }).waitFor()
    await page.getByText('Last sweep', { exact: true }).first().waitFor()
  })

  let supportKey = ''
  await check('an operator is created, and its key is shown once', async () => {
    await openPath(page, '/operator/operators')
    await page.getByRole('button', { name: 'New operator' }).first().click()
    await dialogOf(page).getByLabel('Name', { exact: true }).fill(`Rui ${EVIL}`)
    await dialogOf(page).getByRole('button', { name: 'Create the operator' }).click()
    await dialogOf(page).getByText('pgo_').waitFor()
    supportKey = await dialogOf(page).locator('pre').textContent()
    await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click()
    await page.locator('tbody tr', { hasText: 'Rui' }).getByText('Support').waitFor()
  })

  await check('what a role may not do is not offered', async () => {
    const support = await openOperator(supportKey)
    await openPath(support, page1)
    await support.getByRole('button', { name: 'Get access' }).waitFor()
    for (const name of ['Change the status', 'Delete the account', 'Erase now', 'Move it']) {
      const button = support.getByRole('button', { name })
      expect((await button.count()) === 0, `support is offered “${name}”`)
    }
    await openPath(support, '/operator/operators')
    await support.locator('tbody tr', { hasText: 'Rui' }).waitFor()
    const add = support.getByRole('button', { name: 'New operator' })
    expect((await add.count()) === 0, 'support is offered to create operators')
    await support.context().close()
    const made = await admin('POST', '/operators', { name: 'Invoices', role: 'billing' })
    const billing = await openOperator(made.apiKey)
    await billing.getByRole('heading', { name: 'Usage' }).waitFor()
    expect((await billing.locator('.nav a').count()) === 1, 'billing sees other pages')
    await openPath(billing, page1)
    await billing.getByText('You may not use this page').waitFor()
    await billing.context().close()
    await admin('DELETE', `/operators/${made.operator.id}`)
  })

  await check('an operator who is removed is signed out', async () => {
    const removed = await openOperator(supportKey)
    await page
      .locator('tbody tr', { hasText: 'Rui' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
    await page.locator('tbody tr', { hasText: 'Rui' }).waitFor({ state: 'detached' })
    await openPath(removed, '/operator/audit')
    await removed.getByLabel('Operator key', { exact: true }).waitFor()
    await removed.context().close()
  })

  await check('an account is opened, with its key, and erased', async () => {
    await openPath(page, '/operator')
    const userName = `${own.userName}-2`
    await page.getByRole('button', { name: 'Open an account' }).click()
    await dialogOf(page).getByLabel('Name', { exact: true }).fill('Gull Freight')
    await dialogOf(page).getByLabel('User name', { exact: true }).fill(own.userName)
    await dialogOf(page).getByRole('button', { name: 'Open the account' }).click()
    await dialogOf(page).locator('.refusal').waitFor()
    await dialogOf(page).getByLabel('User name', { exact: true }).fill(userName)
    await dialogOf(page).getByRole('button', { name: 'Open the account' }).click()
    await dialogOf(page).getByText('pgk_').waitFor()
    await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Gull Freight' }).waitFor()
    await page.getByRole('button', { name: 'Erase now' }).click()
    await dialogOf(page).getByRole('textbox').fill(userName)
    await dialogOf(page).getByRole('button', { name: 'Erase everything' }).click()
    await page.getByRole('heading', { name: 'Accounts' }).waitFor()
  })

  await check('no page had an error, nor asked another host', () => {
    expect(watch.faults.length === 0, watch.faults.join('\n'))
    expect(watch.foreign.length === 0, watch.foreign.join('\n'))
  })
} finally {
  await browser.close()
}
report()
