// Typed input, dialogs and privileges: node test/browser/input.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment, to open an account of its own.
import { TestAccount } from './support/accounts.mjs'
import { check, expect, launch, report, Watch } from './support/browser.mjs'
import { openPath, typeAtOnce, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 6 })
const newPage = (options) => visit.open(browser, watch, options)
const signIn = (page, email) =>
  visit.signIn(page, { account: account.userName, email, password: PASSWORD })
const addUser = (name, privileges) =>
  account.call('POST', '/api/users', {
    name,
    email: `${name.toLowerCase()}@input.example`,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges,
    password: PASSWORD,
  })

/** Waits until the field has the focus and nothing covers it. */
const waitForFocusIn = async (field) => {
  const element = await field.elementHandle()
  await field.page().waitForFunction((wanted) => {
    const { left, top, width, height } = wanted.getBoundingClientRect()
    const seen = document.elementFromPoint(left + width / 2, top + height / 2)
    return document.activeElement === wanted && seen === wanted
  }, element)
}

try {
  const ship = await account.addDevice({ name: 'Tern 7' }, { latitude: 38.7, longitude: -9.4 })
  await addUser('Ana', ['admin'])
  await addUser('Rui', ['read'])
  const page = await newPage()
  await signIn(page, 'ana@input.example')
  const dialog = page.getByRole('dialog')
  const name = page.getByLabel('Name', { exact: true })

  await check('the back button asks before typed input is lost', async () => {
    await openPath(page, '/devices')
    await page.getByRole('link', { name: 'New device' }).first().click()
    await name.fill('Half typed')
    page.once('dialog', (question) => question.dismiss())
    await page.goBack()
    await page.waitForURL('**/devices/new')
    expect((await name.inputValue()) === 'Half typed', 'the input is lost')
    page.once('dialog', (question) => question.accept())
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
  })

  await check('a mistyped address is answered with a page', async () => {
    await openPath(page, '/devices/50%')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  })

  await check('a second Escape does not close a dialog that must be answered', async () => {
    await openPath(page, '/settings/keys')
    await page.getByRole('button', { name: 'Generate a key' }).click()
    const bound = dialog.getByLabel('Bound to')
    expect(await bound.isDisabled(), 'another user can be chosen, which is refused')
    const chosen = await bound.locator('option:checked').textContent()
    expect(chosen.startsWith('Ana'), `the key would be bound to ${chosen}`)
    await dialog.getByLabel('Name', { exact: true }).fill('Own')
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await dialog.getByText('it is shown only once').waitFor()
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
    // The page opens it again when the browser has closed it.
    await page.waitForTimeout(200)
    await dialog.getByText('it is shown only once').waitFor()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  await check('a key can be replaced where the service allows it', async () => {
    const row = (text) => page.locator('tr', { hasText: text })
    await row('Own').getByRole('button', { name: 'Replace' }).waitFor()
    const first = row('Nobody').first()
    await first.getByRole('button', { name: 'Delete' }).waitFor()
    const count = await first.getByRole('button', { name: 'Replace' }).count()
    expect(count === 0, 'a key of nobody can be replaced, which is refused')
  })

  await check(
    'a refused form shows its first wrong field, also below bars of a phone',
    async () => {
      await account.addDevice({ name: 'Gull 2', identifier: 'IMEI-7' })
      const phone = await newPage({ viewport: { width: 375, height: 667 } })
      await signIn(phone, 'ana@input.example')
      await openPath(phone, '/devices/new')
      await phone.getByLabel('Name', { exact: true }).fill('Gull 3')
      const identifier = phone.getByLabel('Identifier')
      await identifier.fill('imei-7')
      await phone.getByRole('button', { name: 'Create the device' }).click()
      await phone.getByText('Identifier is used by the device “Gull 2”', { exact: true }).waitFor()
      await waitForFocusIn(identifier)
      const perDay = phone.getByLabel('E-mails a day')
      await identifier.fill('imei-8')
      await perDay.fill('-1')
      await phone.getByRole('button', { name: 'Create the device' }).click()
      await phone.getByText('Check the marked fields.').waitFor()
      await waitForFocusIn(perDay)
      await phone.context().close()
    },
  )

  await check('a refused dialog shows its first wrong field', async () => {
    await openPath(page, '/settings/keys')
    await page.getByRole('button', { name: 'Generate a key' }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('No permissions')
    await dialog.getByLabel('View', { exact: true }).uncheck()
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await waitForFocusIn(dialog.getByLabel('Report', { exact: true }))
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  await check('what another editor of a group has changed meanwhile stays', async () => {
    const [kite, rook] = [
      await account.addDevice({ name: 'Kite 1' }),
      await account.addDevice({ name: 'Rook 1' }),
    ]
    const group = await account.call('POST', '/api/groups', {
      name: 'Two editors',
      devices: [ship.id, kite.id],
    })
    await openPath(page, `/groups/${group.id}`)
    await page.getByRole('button', { name: 'Remove Kite 1' }).click()
    const other = [{ op: 'add', path: '/devices/-', value: rook.id }]
    await account.call('PATCH', `/api/groups/${group.id}`, other)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
    const { devices } = await account.call('GET', `/api/groups/${group.id}`)
    const wanted = [ship.id, rook.id]
    expect(devices.join() === wanted.join(), `${devices} instead of ${wanted}`)
  })

  await check('a tried rule says why it was refused', async () => {
    const { rule } = await account.call('POST', '/api/rules', {
      name: 'Silence',
      enabled: false,
      devices: [ship.id],
      when: { type: 'silent', minutes: 30 },
    })
    await openPath(page, `/rules/${rule.id}`)
    await page.route('**/api/rules/*/test', (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({ success: false, detail: 'Refused by the test.', status: 409 }),
      }),
    )
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByText('Refused by the test.').waitFor()
  })

  await check('a past span of a track is kept while it is typed', async () => {
    const to = page.getByLabel('To', { exact: true })
    await typeAtOnce(page, '.track .field:last-child input[type="datetime-local"]', {
      value: '2025-01-02T10:00',
      act: () => openPath(page, `/map/${ship.id}/track?span=custom`),
    })
    await page.getByText('must be after the start').waitFor()
    expect((await to.inputValue()) === '2025-01-02T10:00', 'the end is lost')
    await page.getByLabel('From', { exact: true }).fill('2025-01-01T10:00')
    await page.waitForURL(/from=2025-01-01/)
    expect(page.url().includes('to=2025-01-02'), page.url())
  })

  await check('the card of a device keeps the search of the list', async () => {
    await openPath(page, '/?q=tern')
    await page.locator('.fleet-row').click()
    await page.getByRole('button', { name: 'Close the card' }).click()
    await page.waitForURL(/\/\?q=tern$/)
  })

  await check('a device that is deleted elsewhere is not shown any more', async () => {
    const other = await account.addDevice({ name: 'Truck 3' })
    await openPath(page, `/devices/${other.id}`)
    await page.getByRole('heading', { level: 1, name: 'Truck 3' }).waitFor()
    await account.call('DELETE', `/api/devices/${other.id}`)
    await page.getByRole('heading', { level: 1, name: 'Truck 3' }).waitFor({ state: 'detached' })
    await page.locator('.state.failed').waitFor()
    await openPath(page, `/map/${other.id}`)
    await page.getByText('There is no such device.').waitFor()
  })

  await check('who may only look gets no pages that always fail', async () => {
    const reader = await newPage()
    await signIn(reader, 'rui@input.example')
    for (const path of ['/users', '/devices/new', '/rules/new', '/groups/new', '/settings/keys']) {
      await openPath(reader, path)
      await reader.getByRole('heading', { name: 'You may not use this page' }).waitFor()
    }
    await openPath(reader, `/devices/${ship.id}`)
    await reader.getByRole('heading', { level: 1, name: 'Tern 7' }).waitFor()
    expect((await reader.getByRole('button', { name: 'Delete' }).count()) === 0, 'can delete')
    await reader.context().close()
  })

  await check('another account in another tab does not take over a page', async () => {
    const other = await TestAccount.open({ licenses: 1, name: 'Other Shipping' })
    await other.call('POST', '/api/users', {
      name: 'Eva',
      email: 'eva@input.example',
      country: 'PT',
      timeZone: 'Europe/Lisbon',
      privileges: ['admin'],
      password: PASSWORD,
    })
    await openPath(page, '/groups/new')
    await name.fill('Typed for the first account')
    // As another tab does it: both have the same cookies.
    await page.evaluate(
      (body) =>
        fetch('/api/Auth/SignIn', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      { account: other.userName, email: 'eva@input.example', password: PASSWORD },
    )
    // The token is refused, as it is once it has expired: the page renews it by the cookie.
    let refused = 0
    await page.route('**/api/groups', (route) =>
      route.request().method() === 'POST' && refused++ === 0
        ? route.fulfill({
            status: 401,
            contentType: 'application/problem+json',
            body: JSON.stringify({ success: false, detail: 'The token has expired.', status: 401 }),
          })
        : route.continue(),
    )
    await page.getByRole('button', { name: 'Create the group' }).click()
    await dialog.getByRole('heading', { name: 'Sign in again' }).waitFor()
    const { groups } = await other.call('GET', '/api/groups')
    expect(groups.length === 0, 'the input went to the other account')
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('.row-link', { hasText: 'Typed for the first account' }).waitFor()
  })

  await check('no page had an error or asked another host', async () => {
    expect(watch.faults.length === 0, watch.faults.join('\n'))
    expect(watch.foreign.length === 0, watch.foreign.join('\n'))
  })
} finally {
  await browser.close()
}
report()
