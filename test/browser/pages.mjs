// Manages an account in a browser: alerts, users, keys and the rest.
// Needs ADMIN_TOKEN and ALLOW_LOOPBACK_WEBHOOKS=true of the service at BASE_URL.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { EVIL, makeContent } from './support/pagesContent.mjs'
import { findViolations, openPath, pressUntil, settle, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@pages.example'
const BO = 'bo@pages.example'

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 5 })
const newPage = (options) => visit.open(browser, watch, options)
const signInAs = (page, email, password) =>
  visit.signIn(page, { account: account.userName, email, password })
const signIn = (page) => signInAs(page, EMAIL, PASSWORD)
const receiver = createServer((_, response) => response.end(EVIL)).listen(0, '127.0.0.1')

try {
  const ana = { name: 'Ana', email: EMAIL, password: PASSWORD }
  const made = await makeContent(account, receiver, ana)
  const page = await newPage()
  const dialog = page.getByRole('dialog')
  await signIn(page)
  /** The notice of a save before may still be there, so the reply is waited for. */
  const save = async (button = page.getByRole('button', { name: 'Save' })) => {
    await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PATCH'),
      button.click(),
    ])
  }

  /** A stored user leads there, which must not happen after the next step. */
  const usersAreListed = () => page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()

  await check('a raised alert appears by itself and is acknowledged in its row', async () => {
    await openPath(page, '/alerts')
    await page.locator('.stream-state.live').waitFor()
    await raise(made.ship, 'LowBattery', 'Battery at 9 %')
    const row = page.locator('tr', { hasText: 'Battery at 9 %' })
    await row.getByRole('button', { name: 'Acknowledge' }).click()
    await row.getByText('Acknowledged', { exact: true }).waitFor()
  })

  await check('an alert says who was notified, and why a message was suppressed', async () => {
    await openPath(page, `/alerts/${made.suppressed.id}`)
    const delivery = page.locator('.deliveries li', { hasText: EMAIL })
    await delivery.getByText('Suppressed').waitFor()
    await delivery.getByText('The daily limit of the device is reached.').waitFor()
    await delivery.getByText('Possible again from').waitFor()
    await openPath(page, `/alerts/${made.sent.id}`)
    await delivery.getByText('Sent', { exact: true }).waitFor()
    await delivery.locator('time').waitFor()
  })

  await check('an emergency is acknowledged on its page', async () => {
    const { alert } = await raise(made.ship, 'SOSButton', 'Man overboard')
    await openPath(page, `/alerts/${alert.id}`)
    await page.getByText('Nobody handles it yet.').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await page.locator('.incident-handled').getByText('Ana').waitFor()
    await page.getByRole('region', { name: 'Emergencies' }).waitFor({ state: 'detached' })
    const { alert: stored } = await account.call('GET', `/api/alerts/${alert.id}`)
    expect(stored.acknowledged, 'the alert is not acknowledged')
  })

  await check(
    'an emergency shows its newest place, and is called off as a false alarm',
    async () => {
      const { alert } = await raise(made.ship, 'SOSButton', 'A mistake')
      await openPath(page, `/alerts/${alert.id}`)
      const bar = page.getByRole('region', { name: 'Emergencies' })
      await bar.getByText('A mistake').waitFor()
      // No event reports either.
      await account.call('POST', `/api/devices/${made.ship}/alerts`, {
        alertName: 'SOSButton',
        latitude: 12.5,
        longitude: -34.25,
      })
      await bar.getByText('12.50000° N, 34.25000° W').waitFor()
      await page.getByRole('main').getByText('12.50000, -34.25000').waitFor()
      await account.report(made.ship, { latitude: 12.75, longitude: -34.5 })
      await bar.getByText('12.75000° N, 34.50000° W').waitFor()
      await page.getByRole('main').getByRole('button', { name: 'Cancel alert' }).click()
      await dialog.getByRole('button', { name: 'It is a false alarm' }).click()
      await page.getByText('The alert is cancelled.').waitFor()
      await bar.waitFor({ state: 'detached' })
      const { alert: stored } = await account.call('GET', `/api/alerts/${alert.id}`)
      expect(stored.cancelled && stored.acknowledged, 'the alert is not cancelled')
    },
  )

  await check('emergency contacts and escalation are set', async () => {
    await openPath(page, '/settings/emergencies')
    await page.getByRole('button', { name: 'Add a contact' }).click()
    const contact = page.getByRole('group', { name: 'Contact 1' })
    await contact.getByLabel('Name', { exact: true }).fill('Coast guard')
    await contact.getByLabel(/^E-mail/).fill('guard@pages.example')
    expect(await page.getByLabel(/^Escalate emergencies/).isChecked(), 'the default is not shown')
    await page.getByText('This is the default of accounts with an emergency contact.').waitFor()
    await page.getByLabel('After (minutes)', { exact: true }).fill('15')
    await page.getByLabel(/^Again after/).fill('45')
    await save()
    const { account: stored } = await account.call('GET', '/api/account')
    expect(stored.emergencyContacts[0]?.email === 'guard@pages.example', 'no contact is stored')
    const { afterMinutes, againAfterMinutes } = stored.escalation ?? {}
    expect(afterMinutes === 15 && againAfterMinutes === 45, JSON.stringify(stored.escalation))
  })

  await check('a key is generated, shown once, and works with the curl line', async () => {
    await openPath(page, '/settings/keys')
    await page.getByRole('button', { name: 'Generate a key' }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('Dispatch')
    await dialog.getByLabel('Expires', { exact: true }).selectOption('30')
    await dialog.getByRole('button', { name: 'Generate', exact: true }).click()
    await dialog.getByText('it is shown only once').waitFor()
    const [apiKey, command] = await dialog.locator('pre').allTextContents()
    expect(apiKey.startsWith('pgk_'), apiKey)
    const reply = JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))
    expect(reply.success && reply.token, `the curl line answers ${JSON.stringify(reply)}`)
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await keyRow(page, 'Dispatch').first().waitFor()
    expect(!(await page.content()).includes(apiKey), 'the key is still on the page')
    made.apiKey = apiKey
  })

  await check('a key is replaced with an overlap: both work', async () => {
    await keyRow(page, 'Dispatch').getByRole('button', { name: 'Replace' }).click()
    await dialog.getByLabel('The old key works').selectOption('3600')
    await dialog.getByRole('button', { name: 'Replace' }).click()
    const newKey = await dialog.locator('pre').first().textContent()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    for (const apiKey of [made.apiKey, newKey]) await account.getToken(apiKey)
  })

  await check('a key is deleted only after its name was typed', async () => {
    await keyRow(page, 'Dispatch').last().getByRole('button', { name: 'Delete' }).click()
    const confirm = dialog.getByRole('button', { name: 'Delete the key' })
    expect(await confirm.isDisabled(), 'the key can be deleted without its name')
    await dialog.getByLabel('Type Dispatch to confirm').fill('Dispatch')
    await confirm.click()
    await page.getByText('The key Dispatch is deleted.').waitFor()
  })

  await check('who changed a group is on its page, and in the audit', async () => {
    const group = await account.call('POST', '/api/groups', { name: 'Audited' })
    await account.call('PATCH', `/api/groups/${group.id}`, { name: 'Audited again' })
    await openPath(page, `/groups/${group.id}`)
    await page.getByText('Who changed this').click()
    await page.getByText('Group created').waitFor()
    await page.getByText('Name: Audited → Audited again').waitFor()
    await openPath(page, `/settings/audit?resource=${group.id}`)
    await page.getByRole('cell', { name: 'Group changed' }).waitFor()
    await page.getByRole('button', { name: 'Of one item only' }).click()
    await page.getByRole('cell', { name: 'Signed in', exact: true }).first().waitFor()
    await page.getByLabel('What', { exact: true }).selectOption('Groups')
    await page.getByRole('cell', { name: 'Group changed' }).waitFor()
    await account.call('DELETE', `/api/groups/${group.id}`)
  })

  await check('a group is created, edited and deleted by its name', async () => {
    await openPath(page, '/groups/new')
    await page.getByLabel('Name', { exact: true }).fill('North fleet')
    await page.locator('.picker-found').getByText('Tern 7').click()
    await page.getByText('1 device chosen').waitFor()
    await page.getByRole('button', { name: 'Create the group' }).click()
    await page.getByRole('link', { name: 'North fleet' }).click()
    await page.getByLabel(/^Description/).fill('Above 60 degrees')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('tr', { hasText: 'Above 60 degrees' }).waitFor()
    await page.getByRole('link', { name: 'North fleet' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByLabel('Type North fleet to confirm').fill('North fleet')
    await dialog.getByRole('button', { name: 'Delete the group' }).click()
    await page.getByText('The group North fleet is deleted.').waitFor()
  })

  await check('a user is created and invited', async () => {
    await openPath(page, '/users/new')
    await page.getByRole('button', { name: 'Create the user' }).click()
    await page.getByText('Country must be chosen').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Bo Berg')
    await page.getByLabel('E-mail', { exact: true }).first().fill(BO)
    await page.getByLabel('Country').selectOption({ label: 'Norway' })
    await page.getByLabel('Time zone').selectOption('Europe/Oslo')
    await page.getByRole('button', { name: 'Create the user' }).click()
    await page.getByText(`An invitation is on its way to ${BO}.`).waitFor()
    await openPath(page, '/messages')
    await page.locator('tr', { hasText: BO }).waitFor()
  })

  await check('a user has a device, a text and tags, and a tag is removed again', async () => {
    const { users } = await account.call('GET', '/api/users')
    const { id } = users.find(({ email }) => email === BO)
    await openPath(page, `/users/${id}`)
    await page.getByLabel('Text for the user').fill('Report at noon')
    await page.getByLabel('Devices the user may create').fill('7')
    const picker = page.getByRole('group', { name: 'The user’s own device' })
    await picker.getByRole('radio').first().check()
    await picker.getByText('1 device chosen').waitFor()
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.getByRole('textbox', { name: 'Tag', exact: true }).fill('team')
    await page.getByRole('textbox', { name: 'Value', exact: true }).fill('north')
    await save()
    await usersAreListed()
    const stored = await account.call('GET', `/api/users/${id}`)
    const { message, adminDevices, tags } = stored
    expect(message === 'Report at noon', message)
    expect(adminDevices === 7 && tags.team === 'north', JSON.stringify({ adminDevices, tags }))
    expect(stored.deviceId?.startsWith('dev_'), `device ${stored.deviceId}`)
    await openPath(page, `/users/${id}`)
    await page.getByRole('button', { name: 'Remove the tag team' }).click()
    await save()
    await usersAreListed()
    const { tags: left } = await account.call('GET', `/api/users/${id}`)
    expect(Object.keys(left).length === 0, JSON.stringify(left))
  })

  await check('messages say why each is sent', async () => {
    await openPath(page, '/messages')
    const kindOf = (words) =>
      page.locator('tr', { hasText: words }).first().locator('td[data-label="Kind"]')
    await kindOf(BO).getByText('Invitation').waitFor()
    await kindOf('Battery at 9 %').getByText('Alert', { exact: true }).waitFor()
  })

  await check('messages show whole addresses at any width', async () => {
    const visitor = await newPage()
    await signIn(visitor)
    await openPath(visitor, '/messages')
    for (const width of [375, 1024, 1440]) {
      await visitor.setViewportSize({ width, height: 900 })
      await settle(visitor)
      const found = await visitor.locator('.address').evaluateAll((cells) =>
        cells.map((cell) => {
          const { width, height, right } = cell.getBoundingClientRect()
          return {
            width,
            height,
            isCut: right > cell.closest('table').getBoundingClientRect().right,
          }
        }),
      )
      expect(found.length > 0, 'no addresses')
      const bad = found.filter(({ width, height, isCut }) => width < 60 || height > 90 || isCut)
      expect(bad.length === 0, `${width} px: ${JSON.stringify(bad)}`)
    }
    await visitor.context().close()
  })

  await check('a select in a dialog has its chevron, disabled too', async () => {
    await openPath(page, '/settings/keys')
    await page.getByRole('button', { name: 'Generate a key' }).first().click()
    const selects = page.getByRole('dialog').locator('select')
    await selects.nth(1).waitFor()
    const pictures = await selects.evaluateAll((all) =>
      all.map((one) => getComputedStyle(one).backgroundImage),
    )
    expect(
      pictures.every((one) => one.includes('gradient')),
      pictures.join('; '),
    )
    await page.keyboard.press('Escape')
  })

  await check('without the stream the console does not look live', async () => {
    const visitor = await newPage()
    await visitor.routeWebSocket('**/api/stream**', (socket) => socket.close())
    await signIn(visitor)
    await visitor.locator('.stream-state.waiting').getByText('Not live').waitFor()
    const colourOf = (shown) =>
      shown
        .locator('.stream-state')
        .evaluate((state) => getComputedStyle(state, '::before').backgroundColor)
    await page.locator('.stream-state.live').waitFor()
    const [live, waiting] = [await colourOf(page), await colourOf(visitor)]
    expect(live !== waiting, `both are ${live}`)
    await visitor.context().close()
  })

  await check('an invitation and a reset lead to a password by their links', async () => {
    const visitor = await newPage()
    await choosePassword(visitor, await findLink(BO, 'invit'), `${PASSWORD} of Bo`)
    await visitor.locator('.facts', { hasText: account.userName }).getByText(BO).waitFor()
    await visitor.getByRole('link', { name: 'Sign in' }).click()
    await visitor.getByLabel('Password', { exact: true }).fill(`${PASSWORD} of Bo`)
    await visitor.getByRole('button', { name: 'Sign in', exact: true }).click()
    await visitor.locator('.shell').waitFor()
    const kept = await visitor.evaluate(() => JSON.stringify({ ...localStorage }))
    expect(kept.includes(BO) && !kept.includes(PASSWORD), kept)
    await visitor.context().close()

    const forgetful = await newPage()
    await forgetful.goto(`${base}/reset`)
    await forgetful.getByLabel('Account', { exact: true }).fill(account.userName)
    await forgetful.getByLabel('E-mail', { exact: true }).fill(BO)
    await forgetful.getByRole('button', { name: 'Send the link' }).click()
    await forgetful.getByRole('heading', { name: 'Look at your e-mail' }).waitFor()
    const link = await findLink(BO, 'reset')
    await choosePassword(forgetful, link, `${PASSWORD} of Bo, again`)
    await signInAs(forgetful, BO, `${PASSWORD} of Bo, again`)
    await forgetful.context().close()
  })

  await check('a user is confined to a group, and sees the whole account again', async () => {
    const group = await account.call('POST', '/api/groups', { name: 'South fleet' })
    const choose = async (label) => {
      await openPath(page, '/users')
      await page.getByRole('link', { name: 'Bo Berg' }).click()
      await page.getByLabel('Access', { exact: true }).selectOption({ label })
      await save()
      await usersAreListed()
      const { users } = await account.call('GET', '/api/users?q=bo')
      return users.find(({ email }) => email === BO).groupId
    }
    expect((await choose('South fleet')) === group.id, 'the user is not confined')
    expect((await choose('The whole account')) === null, 'the user is still confined')
  })

  await check('a user is disabled with a message and enabled again', async () => {
    await openPath(page, '/users')
    await page.getByRole('link', { name: 'Bo Berg' }).click()
    await page.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByLabel(/^Message/).fill('On leave')
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('Active', { exact: true }).waitFor()
  })

  await check('a webhook shows its secret once, is tested, and delivers again', async () => {
    await openPath(page, '/webhooks/new')
    await page.getByLabel('Address').fill('http://10.0.0.1/')
    await page.getByRole('button', { name: 'Create the webhook' }).click()
    await page.locator('.field-error', { hasText: 'Address' }).waitFor()
    await page.getByLabel('Address').fill(`http://127.0.0.1:${receiver.address().port}/hook`)
    await page.getByRole('button', { name: 'Create the webhook' }).click()
    expect((await dialog.locator('pre').textContent()).startsWith('whsec_'), 'no secret')
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    const row = page.locator('tr', { hasText: 'A test' })
    await row.getByText('Delivered').waitFor()
    await row.locator('summary').click()
    await row.getByText(EVIL).waitFor()
    await row.getByRole('button', { name: 'Deliver again' }).click()
    await page.getByText('The receiver answered with 200.').first().waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByText('The old secret signs as well until').waitFor()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    made.webhookPath = new URL(page.url()).pathname
  })

  await check('the account exports everything as one file', async () => {
    await openPath(page, '/settings')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export everything' }).click(),
    ])
    expect(file.suggestedFilename() === `${account.userName}.tar.gz`, file.suggestedFilename())
    await page.getByText('The export is complete.').waitFor()
    await page.route('**/api/account/export', (route) =>
      route.fulfill({ status: 422, json: { detail: 'The account has too many locations.' } }),
    )
    await page.getByRole('button', { name: 'Export everything' }).click()
    await page.getByText('The account has too many locations.').waitFor()
    await page.unroute('**/api/account/export')
  })

  await check('a change of the time zone says before what it does to licenses', async () => {
    await openPath(page, '/settings')
    const { zone, sentence } = made.zoneChange
    await page.getByLabel('Time zone').selectOption(zone)
    await page.locator('.zone-preview').getByText(sentence).waitFor()
    await page.locator('.zone-preview').getByText('Truck 3').waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
  })

  await check('the account is renamed, and less retention asks for its user name', async () => {
    await page.getByLabel('Name', { exact: true }).fill('Renamed Shipping')
    await page.getByLabel(/^Keep locations/).fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByLabel(/^Type/).fill(account.userName)
    await save(dialog.getByRole('button', { name: 'Keep less' }))
    const { account: stored } = await account.call('GET', '/api/account')
    expect(stored.name === 'Renamed Shipping' && stored.retentionDays === 30, 'not stored')
  })

  await check('licenses show what is in use, what expires and the log', async () => {
    await openPath(page, `/licenses?month=${made.month}`)
    await page.getByText('of 5 in use').waitFor()
    await page.locator('.month .has-devices').waitFor()
    await page.locator('.calendar-list').getByRole('link', { name: 'Buoy 4' }).waitFor()
    await page.locator('tr', { hasText: 'Taken' }).first().waitFor()
  })

  await check('events are filtered by an address that can be shared', async () => {
    await openPath(page, '/events?type=alert.*')
    await page.locator('td', { hasText: 'Alert raised' }).first().waitFor()
    const others = await page.locator('td', { hasText: 'Device created' }).count()
    expect(others === 0, 'the filter lets devices pass')
    await page.getByLabel('Event', { exact: true }).selectOption('device.*')
    await page.locator('td', { hasText: 'Device created' }).first().waitFor()
    expect(page.url().includes('type=device'), page.url())
  })

  await check('another browser is signed out from here', async () => {
    const other = await newPage()
    await signIn(other)
    await openPath(page, '/settings/sessions')
    await page.getByRole('button', { name: 'Sign out there' }).first().click()
    await page.getByText('That browser is signed out.').waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.context().close()
  })

  const paths = pagePaths(made)

  await check('no field of any page is shown as HTML', async () => {
    for (const path of paths) {
      await openPath(page, path)
      await settle(page)
      const found = await page.locator('img[src="x"]').count()
      expect(found === 0, `${path} makes an element of a name`)
    }
    for (const path of made.hostilePaths) {
      await openPath(page, path)
      await page.getByText(EVIL).first().waitFor({ state: 'attached' })
    }
  })

  await check('a lost connection is shown, and the page recovers', async () => {
    // Not watched: the browser reports each call that fails as an error.
    const traveller = await visit.open(browser, new Watch())
    await signIn(traveller)
    await openPath(traveller, '/groups')
    await traveller.locator('.row-link').first().waitFor()
    await traveller.context().setOffline(true)
    await openPath(traveller, '/users')
    await openPath(traveller, '/groups')
    await traveller.locator('.state.failed').waitFor()
    await traveller.context().setOffline(false)
    await traveller.locator('.row-link').first().waitFor()
    await traveller.context().close()
  })

  await check('a key is generated by keyboard alone', () => byKeyboard())

  await check('at 320 px no page is wider than the screen', async () => {
    const phone = await newPage({ viewport: { width: 320, height: 640 } })
    await signIn(phone)
    const wide = []
    for (const path of paths) {
      await openPath(phone, path)
      await settle(phone)
      const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (overflow > 0) wide.push(`${path}: ${overflow} px`)
    }
    expect(wide.length === 0, wide.join(', '))
    await phone.context().close()
  })

  for (const colorScheme of ['light', 'dark'])
    await check(`axe finds nothing on any page or dialog, ${colorScheme}`, () =>
      runAxe(colorScheme, paths),
    )

  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
  })
} finally {
  await browser.close()
  receiver.close()
}
report()

/** The newest link to a user. Where nothing is sent, an administrator reads it in the messages. */
async function findLink(email, word) {
  for (let attempt = 0; attempt < 120; attempt++) {
    const { messages } = await account.call('GET', '/api/account/messages?channel=Email')
    const found = messages.find(({ to, text }) => to === email && text.includes(word))
    // Until it is sent, the message shows … in place of the secret.
    const link = found?.text.match(/https?:\/\/\S+#[\w.-]{20,}/)?.[0]
    if (link) return link
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`There is no ${word} message to ${email}.`)
}

async function choosePassword(page, link, password) {
  await page.goto(link)
  await page.getByLabel('New password', { exact: true }).fill(password)
  await page.getByLabel('New password, again').fill(password)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByRole('heading', { name: 'Your password is set' }).waitFor()
}

function keyRow(page, name) {
  return page.locator('tr', { has: page.locator('b', { hasText: name }) })
}

function raise(deviceId, alertName, text) {
  return account.call('POST', `/api/devices/${deviceId}/alerts`, { alertName, text })
}

function pagePaths({ details, webhookPath = '/webhooks' }) {
  return [
    '/alerts?show=all',
    '/licenses',
    '/groups',
    '/groups/new',
    '/users',
    '/users/new',
    '/messages',
    '/webhooks',
    '/webhooks/new',
    webhookPath,
    '/events',
    '/settings',
    '/settings/emergencies',
    '/settings/keys',
    '/settings/sessions',
    '/settings/notifications',
    ...details,
  ]
}

async function byKeyboard() {
  const page = await newPage({ reducedMotion: 'reduce' })
  await signIn(page)
  await pressUntil(page, 'Tab', (it) => it.matches('nav a[href="/settings"]'))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await pressUntil(page, 'Tab', (it) => it.matches('a[href="/settings/keys"]'))
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Generate a key' }).waitFor()
  await pressUntil(
    page,
    'Tab',
    (it) => it.matches('button') && /Generate a key/.test(it.textContent),
  )
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('Typed')
  await page.keyboard.press('Enter')
  await page.getByText('it is shown only once').waitFor()
  await pressUntil(
    page,
    'Tab',
    (it) => it.matches('button') && /I have stored it/.test(it.textContent),
  )
  await page.keyboard.press('Enter')
  await keyRow(page, 'Typed').waitFor()
  await page.context().close()
}

async function runAxe(colorScheme, paths) {
  const options = { colorScheme, bypassCSP: true, reducedMotion: 'reduce' }
  const page = await newPage(options)
  await signIn(page)
  const found = []
  for (const path of paths) {
    await openPath(page, path)
    await settle(page)
    found.push(...(await findViolations(page, path)))
  }
  await openPath(page, '/settings/keys')
  for (const name of ['Generate a key', 'Replace', 'Delete']) {
    await page.getByRole('button', { name }).first().click()
    await page.getByRole('dialog').waitFor()
    found.push(...(await findViolations(page, name)))
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.context().close()
  expect(found.length === 0, found.join('\n'))
}
