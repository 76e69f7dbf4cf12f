// Uses the console in a browser: node test/browser/console.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment, to open an account of its own.
import { readFileSync } from 'node:fs'
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, pressUntil, settle, visit } from './support/visit.mjs'

const EVIL_NAME = '<img src=x onerror=alert(1)>'
const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@console.example'

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 3 })
const newPage = (options) => visit.open(browser, watch, options)
const signInByPassword = (page) =>
  visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })

try {
  const ship = await account.addDevice(
    { name: 'Tern 7', identifier: 'TERN7', model: 'Trawler terminal' },
    { latitude: 38.7, longitude: -9.4, speed: 20, course: 80, battery: 91, altitude: 3 },
  )
  const evil = await account.addDevice(
    {
      name: EVIL_NAME,
      description: EVIL_NAME,
      model: EVIL_NAME,
      identifier: EVIL_NAME,
      tags: { [EVIL_NAME]: EVIL_NAME },
    },
    { latitude: 41.1, longitude: -8.6 },
  )
  const third = await account.addDevice({
    name: 'Truck 3',
    limits: { expires: true, expirationDate: '2099-03-03' },
  })
  await account.call('POST', '/api/users', {
    name: 'Ana',
    email: EMAIL,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges: ['admin'],
    password: PASSWORD,
  })

  const page = await newPage()

  await check('the page comes with a strict content security policy', async () => {
    const { headers } = await fetch(`${base}/`)
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of [
      "default-src 'none'",
      "script-src 'self';",
      "style-src 'self';",
      "connect-src 'self';",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy.includes(part), `no ${part} in "${policy}"`)
    expect(!/unsafe-|https?:|\*/.test(policy), `"${policy}" is too wide`)
  })

  await check('a path of the Worker is not answered with the console', async () => {
    // Not watched: the browser reports the refusals of these paths as errors.
    const visitor = await browser.newPage()
    for (const path of await workerPaths()) {
      const response = await visitor.goto(`${base}${path}`)
      expect(!(await response.text()).includes('id="app"'), `${path} shows the console`)
    }
    for (const path of ['/', '/devices', '/settings/keys', '/no/such/page']) {
      const response = await visitor.goto(`${base}${path}`)
      expect((await response.text()).includes('id="app"'), `${path} does not show the console`)
    }
    await visitor.close()
  })

  await check('a wrong key is refused with a sentence, without a request id', async () => {
    await page.goto(base)
    await signInByKey(page, `${account.apiKey.slice(0, -1)}x`)
    const refusal = page.getByRole('alert')
    await refusal.waitFor()
    const words = await refusal.textContent()
    expect(words.length > 10 && !words.includes('Request '), words)
  })

  await check('after a sign-in by key the map shows every device', async () => {
    await signInByKey(page, account.apiKey)
    await page.getByText('3 devices').waitFor()
    await page.locator('.fleet-row').nth(2).waitFor()
    expect((await page.locator('.fleet-row').count()) === 3, 'the list has not 3 devices')
    // Those with a position.
    await page.locator('.map-canvas[data-drawn="2"]').waitFor()
  })

  await check('the key is not stored in the browser', async () => {
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    expect(!stored.includes('pgk_'), stored)
  })

  await check('a device moves without a reload', async () => {
    await page.locator('.stream-state.live').waitFor()
    await account.report(ship.id, { latitude: 38.9, longitude: -9.6, speed: 123, course: 10 })
    await page.locator('.fleet-row', { hasText: 'Tern 7' }).getByText('123 km/h').waitFor()
  })

  await check('a card, a track, its charts and an export', async () => {
    await page.locator('.fleet-row', { hasText: 'Tern 7' }).click()
    await page.locator('.device-card').getByText('123 km/h').waitFor()
    await page.getByRole('link', { name: 'Track' }).click()
    await page.getByText('2 positions').waitFor()
    await page.locator('.chart').nth(2).waitFor()
    const slider = page.getByRole('slider', { name: 'Time' })
    const end = Number(await slider.inputValue())
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    expect(Number(await slider.inputValue()) < end, 'playing did not start at the beginning')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'GPX' }).click(),
    ])
    expect(readFileSync(await file.path(), 'utf8').includes('<trkpt'), 'the GPX has no points')
  })

  await check('the back button returns to the card and to the map', async () => {
    await page.goBack()
    await page.locator('.device-card').waitFor()
    await page.goBack()
    await page.locator('.device-card').waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname === '/', page.url())
  })

  await check('a name is shown as it is and not as HTML', async () => {
    await openPath(page, `/devices/${evil.id}`)
    await page.getByRole('heading', { level: 1, name: EVIL_NAME, exact: true }).waitFor()
    expect((await page.locator('img[src="x"]').count()) === 0, 'an element was made of a name')
  })

  await check('a create without a free license says when one becomes free', async () => {
    await openPath(page, '/devices/new')
    await page.getByLabel('Name', { exact: true }).fill('Buoy 9')
    await page.getByRole('button', { name: 'Create the device' }).click()
    const refusal = page.locator('.refusal', { hasText: '3 of 3 licenses are in use' })
    expect((await refusal.textContent()).includes('3 March 2099'), 'no date')
    expect((await page.getByLabel('Name', { exact: true }).inputValue()) === 'Buoy 9', 'input lost')
  })

  await check('once another device expires, the create succeeds', async () => {
    await account.call('PATCH', `/api/devices/${third.id}`, {
      limits: { expires: true, expirationDate: '2020-01-01' },
    })
    await page.getByRole('button', { name: 'Create the device' }).click()
    await page.getByRole('heading', { level: 1, name: 'Buoy 9' }).waitFor()
  })

  await check('a reactivation is refused, and granted once a device expires', async () => {
    await openPath(page, `/devices/${third.id}`)
    await page.getByRole('button', { name: 'Reactivate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Reactivate' }).click()
    await dialog.getByText('3 of 3 licenses are in use').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await openPath(page, `/devices/${evil.id}`)
    await page.getByRole('button', { name: 'Expire now' }).click()
    await page.getByRole('button', { name: 'Expire the device' }).click()
    await page.getByRole('button', { name: 'Reactivate' }).waitFor()

    await openPath(page, `/devices/${third.id}`)
    await page.getByRole('heading', { level: 1, name: 'Truck 3' }).waitFor()
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await dialog.getByRole('button', { name: 'Reactivate' }).click()
    await page.getByRole('button', { name: 'Expire now' }).waitFor()
  })

  await check('limits are edited, and a wrong one is marked', async () => {
    await openPath(page, `/devices/${ship.id}/edit`)
    await page.getByLabel('SMS a day').fill('200000')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.field-error', { hasText: 'SMS a day' }).waitFor()
    await page.getByLabel('SMS a day').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('of 7').waitFor()
  })

  await check('an emergency takes the top of the page until it is acknowledged', async () => {
    await account.call('POST', `/api/devices/${ship.id}/alerts`, {
      alertName: 'SOSButton',
      text: EVIL_NAME,
    })
    const bar = page.getByRole('region', { name: 'Emergencies' })
    await bar.getByText('SOS button from Tern 7').waitFor()
    await openPath(page, '/devices')
    // What the page loads may make the bar narrower.
    await settle(page)
    await page.locator('.emergencies:not(.settling)').waitFor()
    await bar.getByRole('button', { name: 'Acknowledge' }).click()
    await bar.waitFor({ state: 'detached' })
    const { alerts } = await account.call('GET', '/api/alerts')
    expect(alerts[0].acknowledged, 'the alert is not acknowledged')
  })

  await check('the main path works by keyboard alone', () => byKeyboard())

  await check('a sign-in by password survives a reload and ends with a sign-out', async () => {
    const other = await newPage()
    await signInByPassword(other)
    await other.reload()
    await other.getByText('4 devices').waitFor()
    await other.getByRole('button', { name: /Account and display/ }).click()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.context().close()
  })

  await check('a session that ended asks again and loses no input', () => signInAgain())

  const paths = pagePaths({ ship, third })
  await check('at 320 and 375 px no page is wider than the screen', async () => {
    const phone = await newPage({ viewport: { width: 375, height: 812 }, colorScheme: 'dark' })
    await signInByPassword(phone)
    for (const width of [375, 320])
      for (const path of paths) {
        await phone.setViewportSize({ width, height: 812 })
        await openPath(phone, path)
        await settle(phone)
        const overflow = await phone.evaluate(
          () => document.documentElement.scrollWidth - innerWidth,
        )
        expect(overflow <= 0, `${path} is ${overflow} px wider than ${width} px`)
      }
    const theme = await phone.evaluate(() => document.documentElement.dataset.theme)
    expect(theme === 'dark', 'the system asks for dark, the page is light')
    await phone.context().close()
  })

  for (const colorScheme of ['light', 'dark'])
    await check(`axe finds nothing on any page, ${colorScheme}`, async () => {
      // Axe is a script of the test, which the policy of the page would refuse.
      const tested = await newPage({ colorScheme, bypassCSP: true, reducedMotion: 'reduce' })
      await tested.goto(base)
      await tested.getByRole('heading', { name: 'Sign in' }).waitFor()
      const found = await findViolations(tested, 'sign-in')
      await signInByPassword(tested)
      for (const path of paths) {
        await openPath(tested, path)
        await settle(tested)
        found.push(...(await findViolations(tested, path)))
      }
      await tested.context().close()
      expect(found.length === 0, [...new Set(found)].join('\n'))
    })

  await check('no request went to another host', () => {
    expect(watch.requests.length > 30, 'hardly any requests were seen')
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
  })

  await check('no error reached the console and no policy was violated', () =>
    expect(watch.faults.length === 0, watch.faults.join('; ')),
  )
} finally {
  await browser.close()
}
report()

async function signInByKey(page, apiKey) {
  await page.getByText('API key', { exact: true }).first().click()
  await page.getByLabel('Account', { exact: true }).fill(account.userName)
  await page.getByLabel('API key', { exact: true }).last().fill(apiKey)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** An address of each route that the Worker answers itself. */
async function workerPaths() {
  const { paths } = await (await fetch(`${base}/api/openapi.json`)).json()
  const filled = Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, 'x'))
  return [...filled, '/problems', '/problems/internal', '/hooks/resend', '/a/x', '/in/src_x/y']
}

function pagePaths({ ship, third }) {
  return [
    '/',
    `/map/${ship.id}`,
    `/map/${ship.id}/track`,
    '/devices',
    '/devices/new',
    `/devices/${third.id}`,
    `/devices/${ship.id}/edit`,
    '/alerts',
    '/alerts?show=all&emergency=true',
    '/licenses',
    '/groups',
    '/users',
    '/messages',
    '/webhooks',
    '/events',
    '/settings',
    '/settings/emergencies',
    '/settings/keys',
    '/settings/audit',
    '/settings/sessions',
    '/settings/usage',
    '/settings/notifications',
    '/no/such/page',
  ]
}

async function byKeyboard() {
  const page = await newPage({ reducedMotion: 'reduce' })
  await page.goto(base)
  await page.getByLabel('Account', { exact: true }).waitFor()
  await page.keyboard.type(account.userName)
  await page.keyboard.press('Tab')
  await page.keyboard.type(EMAIL)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.locator('.fleet-row').first().waitFor()
  await pressUntil(page, 'Tab', (it) => it.matches('nav a[href="/devices"]'))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
  await page.locator('.row-link').first().waitFor()
  await pressUntil(page, 'Tab', (it) => it.matches('.row-link'))
  await page.keyboard.press('Enter')
  await page.locator('.facts').waitFor()
  await pressUntil(page, 'Tab', (it) => it.matches('button') && /Delete/.test(it.textContent))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.context().close()
}

async function signInAgain() {
  const page = await newPage()
  await signInByPassword(page)
  await openPath(page, '/devices/new')
  await page.getByLabel('Name', { exact: true }).fill('Half typed')
  // Everything that renews the session is gone: a reload could not bring it back.
  await page.context().clearCookies()
  await page.route('**/api/devices', (route) =>
    route.request().method() === 'POST' && !page.hasAskedAgain
      ? route.fulfill({
          status: 401,
          contentType: 'application/problem+json',
          body: JSON.stringify({ success: false, detail: 'The token has expired.', status: 401 }),
        })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Create the device' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Sign in again' }).waitFor()
  page.hasAskedAgain = true
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  // The license is refused, which only a call that went through can be.
  await page.getByText('3 of 3 licenses are in use').waitFor()
  expect(
    (await page.getByLabel('Name', { exact: true }).inputValue()) === 'Half typed',
    'the input is lost',
  )
  await page.context().close()
}
