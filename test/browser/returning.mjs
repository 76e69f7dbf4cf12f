// What people who come back find: their search, their view of the map, a page that failed offline, a
// second tab. Needs ADMIN_TOKEN of the service at BASE_URL.
import { TestAccount } from './support/accounts.mjs'
import { check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, settle, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@returning.example'

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 4 })
const user = { country: 'PT', timeZone: 'UTC' }
await account.call('POST', '/api/users', {
  ...user,
  name: 'Ana',
  email: EMAIL,
  password: PASSWORD,
  privileges: ['admin'],
})
const bo = await account.call('POST', '/api/users', { ...user, name: 'Bo', email: 'bo@a.example' })
const HERE = { latitude: 38.7, longitude: -9.1 }
await account.addDevice({ name: 'Great Möwe नाव', identifier: 'IMEI-77' }, HERE)
await account.addDevice({ name: 'Auk' }, { latitude: 60, longitude: 30 })

const page = await visit.open(browser, watch, { acceptDownloads: true, bypassCSP: true })
const signIn = (tab) =>
  visit.signIn(tab, { account: account.userName, email: EMAIL, password: PASSWORD })
const menu = (name) => page.getByRole('link', { name, exact: true }).click()

try {
  await signIn(page)

  await check('a device is found by any part of its name, in the list and on the map', async () => {
    const search = page.getByLabel('Search by name or identifier')
    for (const part of ['MÖW', 'i-7']) {
      await page.locator('.fleet-row', { hasText: 'Auk' }).waitFor()
      await search.fill(part)
      await page.locator('.fleet-row', { hasText: 'Auk' }).waitFor({ state: 'detached' })
      await page.locator('.fleet-row', { hasText: 'Great Möwe' }).waitFor()
      await search.fill('')
    }
    await menu('Devices')
    for (const part of ['MÖW', 'i-7']) {
      await page.getByRole('link', { name: 'Auk' }).waitFor()
      await search.fill(part)
      await page.getByRole('link', { name: 'Auk' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: /Great Möwe/ }).waitFor()
      await search.fill('')
    }
  })

  await check('the map is where its reader has left it', async () => {
    const readView = () =>
      page.evaluate(() => Object.entries(sessionStorage).find(([key]) => /map/.test(key))?.[1])
    await menu('Map')
    await page.locator('.map-canvas[data-drawn="2"]').waitFor()
    const before = await readView()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.waitForFunction((old) => !Object.values(sessionStorage).includes(old), before ?? '')
    await settle(page)
    const left = await readView()
    expect(left !== before, 'the view is not kept')
    await menu('Devices')
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await menu('Map')
    await page.locator('.map-canvas[data-drawn="2"]').waitFor()
    await settle(page)
    const [was, is] = [left, await readView()].map((view) => JSON.parse(view))
    expect(Math.abs(was.zoom - is.zoom) < 0.01, `zoom ${was.zoom}, then ${is.zoom}`)
    expect(Math.abs(was.center[0] - is.center[0]) < 0.01, `${was.center}, then ${is.center}`)
  })

  await check('pages that failed offline are loaded when the connection is back', async () => {
    await menu('Groups')
    await settle(page)
    await menu('Devices')
    await settle(page)
    await page.context().setOffline(true)
    await menu('Groups')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.context().setOffline(false)
    await page.getByText('No groups yet').waitFor()
    await page.context().setOffline(true)
    // A page that was never opened: its code is missing. It asks whether the service is there.
    const asked = page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('/healthz'),
    )
    await menu('Licenses')
    await page.getByRole('button', { name: 'Reload' }).waitFor()
    await asked
    await page.context().setOffline(false)
    await page.getByRole('heading', { level: 1, name: 'Licenses' }).waitFor()
  })

  const DISCONNECTED = 'internetdisconnected'
  /** True until the page is loaded anew. */
  const isSamePage = () => page.evaluate(() => globalThis.isSamePage === true)
  const markPage = () =>
    page.evaluate(() => {
      globalThis.isSamePage = true
    })
  /** As if the page was last loaded anew long ago: the check before may have done it just now. */
  const forgetReload = () => page.evaluate(() => sessionStorage.removeItem('perigee.reloaded'))
  /** What the page asks before it decides. */
  const probe = () => page.waitForResponse(/\/healthz$/)

  await check('a page whose code was lost in a short break is loaded anew, once', async () => {
    await forgetReload()
    await markPage()
    await page.route(/\/WebhooksPage-/, (route) => route.abort(DISCONNECTED), { times: 1 })
    await menu('Webhooks')
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    expect(!(await isSamePage()), 'it was not loaded anew')
    // A part that is really missing: the page was loaded anew a moment ago.
    await page.evaluate(() => sessionStorage.setItem('perigee.reloaded', String(Date.now())))
    await markPage()
    await page.route(/\/MessagesPage-/, (route) => route.abort(DISCONNECTED))
    const asked = probe()
    await menu('Messages')
    await asked
    await page.getByRole('button', { name: 'Reload' }).waitFor()
    await page.waitForTimeout(500)
    expect(await isSamePage(), 'it was loaded anew again')
    await page.unroute(/\/MessagesPage-/)
  })

  await check('a page with typed input is not loaded anew before it is cleared', async () => {
    await forgetReload()
    await markPage()
    const name = page.getByLabel('Name', { exact: true })
    await page.route(
      /\/ZoneEditor-/,
      async (route) => {
        await name.fill('Half typed')
        await route.abort(DISCONNECTED)
      },
      { times: 1 },
    )
    const asked = probe()
    await openPath(page, '/zones/new')
    await asked
    await page.waitForTimeout(2000)
    expect(await isSamePage(), 'it was loaded anew')
    expect((await name.inputValue()) === 'Half typed', 'the input is lost')
    await name.fill('')
    await page.waitForFunction(() => globalThis.isSamePage !== true)
    await page
      .getByRole('button', { name: 'Draw on the map' })
      .and(page.locator(':enabled'))
      .waitFor()
    await menu('Licenses')
    await page.getByRole('heading', { level: 1, name: 'Licenses' }).waitFor()
  })

  await check('a tab goes on once another one has signed in again', async () => {
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.locator('.shell').waitFor()
    const refuse = (route) =>
      route.fulfill({ status: 401, json: { success: false, detail: 'No.', code: 'session-ended' } })
    for (const tab of [page, other]) {
      await tab.route(/\/api\/(groups|Auth\/Refresh)/, refuse)
      await tab.getByRole('link', { name: 'Groups', exact: true }).click()
      await tab.getByRole('dialog').getByLabel('Password', { exact: true }).waitFor()
      await tab.unroute(/\/api\/(groups|Auth\/Refresh)/, refuse)
    }
    await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click()
    for (const tab of [page, other]) {
      await tab.getByRole('dialog').waitFor({ state: 'detached' })
      await tab.getByText('No groups yet').waitFor()
    }
    await other.close()
  })

  await check('a track is saved under the name of its device, in its letters', async () => {
    await menu('Map')
    await page.locator('.fleet-row', { hasText: 'Great' }).click()
    await page.getByRole('link', { name: 'Track', exact: true }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'GPX' }).click()
    const name = (await saved).suggestedFilename()
    expect(/^Great-Möwe-नाव_[\d_-]+\.gpx$/.test(name), name)
  })

  await check('an invited user is shown as invited, and a phone number is checked', async () => {
    await account.call('POST', `/api/users/${bo.id}/invite`)
    await menu('Users')
    await page.getByRole('row', { name: /Bo/ }).getByText('Invited').waitFor()
    await page.getByRole('row', { name: /Ana/ }).getByText('Active').waitFor()
    await page.getByRole('link', { name: /^Bo/ }).click()
    const phone = page.getByLabel(/^Phone/)
    await phone.fill('912 345')
    await phone.blur()
    await page.locator('.field-error', { hasText: 'international number' }).waitFor()
    await phone.fill('00351 912-345-678')
    await phone.blur()
    await page.locator('.field-error').waitFor({ state: 'detached' })
    expect((await phone.inputValue()) === '+351912345678', await phone.inputValue())
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    const { phone: stored } = await account.call('GET', `/api/users/${bo.id}`)
    expect(stored === '+351912345678', stored)
  })

  await check('the template of each app is shown, to copy and as a QR code', async () => {
    await menu('Sources')
    await page.getByRole('link', { name: 'New source' }).first().click()
    await page.getByLabel('Network or program').selectOption('osmand')
    await page.getByLabel('Name', { exact: true }).fill('Phones')
    await page.getByLabel('Unit of speed').selectOption('m/s')
    await page.getByRole('button', { name: 'Create the source' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'QR code of the address for OsmAnd' }).waitFor()
    await dialog.getByText('Traccar Client', { exact: true }).click()
    await dialog.getByText('Traccar Client sends knots').waitFor()
    await dialog.getByText('OsmAnd', { exact: true }).click()
    await dialog.getByText('Traccar Client sends knots').waitFor({ state: 'detached' })
    await dialog.getByLabel('Id of the phone').fill('ann’s phone')
    await dialog.locator('pre', { hasText: 'ann%E2%80%99s%20phone&lat={0}' }).waitFor()
    await dialog.getByRole('img', { name: 'QR code of the address for OsmAnd' }).waitFor()
    const violations = await findViolations(page, 'the address')
    expect(violations.length === 0, violations.join('\n'))
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Traccar Client', { exact: true }).click()
    await page.getByText('Enter this after the address').waitFor({ state: 'detached' })
    await page.getByText('GPSLogger', { exact: true }).click()
    await page.locator('pre', { hasText: '%LAT' }).waitFor()
  })

  await check('no page has failed', () => {
    expect(watch.faults.length === 0, watch.faults.join('\n'))
    expect(watch.foreign.length === 0, watch.foreign.join('\n'))
  })
} finally {
  await browser.close()
}
report()
