// Wakes somebody: an SOS by push to Chromium's own service worker, acknowledged from the notification,
// and the alarm of an open tab: node test/browser/push.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment, to open an account of its own.
//
// Chromium subscribes only to the push service of its maker. So the page gets a subscription to a
// push service on this machine, with keys of the test: that service checks and decrypts what the
// Worker really sends, and CDP (`ServiceWorker.deliverPushMessage`) hands the decrypted payload to
// the service worker. From there on everything is Chromium's own.
import { setTimeout as sleep } from 'node:timers/promises'
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, PATIENCE_MS, report, Watch } from './support/browser.mjs'
import {
  blockSound,
  clickNotification,
  measureSound,
  readNotifications,
  replacePushService,
} from './support/pushPage.mjs'
import { PushService } from './support/pushService.mjs'
import { findViolations, openPath, settle, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@push.example'
const PLACE = { latitude: 41.1853, longitude: -8.7021 }
const SETTINGS = '/settings/notifications'
const OPTIONS = { permissions: ['notifications'], serviceWorkers: 'allow' }

const watch = new Watch()
const service = await PushService.start()
const browser = await launch()
const account = await TestAccount.open({ licenses: 4 })
const ana = await account.call('POST', '/api/users', {
  name: 'Ana',
  email: EMAIL,
  country: 'PT',
  timeZone: 'Europe/Lisbon',
  privileges: ['admin'],
  notify: { email: false, sms: false, push: true },
  password: PASSWORD,
})
await account.call('POST', '/api/zones', {
  name: 'Fishing harbour',
  shape: { type: 'Circle', center: [PLACE.longitude, PLACE.latitude], radius: 800 },
})
const [tern, truck, buoy, skiff] = await Promise.all(
  ['Tern 7', 'Truck 3', 'Buoy 9', 'Skiff 2'].map((name) => account.addDevice({ name }, PLACE)),
)
const signIn = (page) =>
  visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
const raise = async ({ id }) =>
  (
    await account.call('POST', `/api/devices/${id}/alerts`, {
      alertName: 'SOSButton',
      text: 'Taking on water',
      ...PLACE,
    })
  ).alert
const readAlert = async (id) => (await account.call('GET', `/api/alerts/${id}`)).alert

try {
  await testInstallation()
  await testPush()
  await testSmallScreen()
  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
    expect(service.faults.length === 0, service.faults.join('; '))
  })
} finally {
  await browser.close()
  service.stop()
}
report()

async function until(read, isWanted) {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const found = await read()
    if (isWanted(found)) return found
    expect(Date.now() < deadline, `still ${JSON.stringify(found)}`)
    await sleep(200)
  }
}

/** A console of Ana's whose push service and loudspeaker are the test's. */
async function openConsole(options) {
  const page = await visit.open(browser, watch, { ...OPTIONS, ...options })
  // Every tab of the browser has the same subscription.
  await page.context().addInitScript(replacePushService, service.subscription)
  await page.addInitScript(measureSound)
  await signIn(page)
  await page.locator('.stream-state.live').waitFor({ state: 'attached' })
  return page
}

async function workerOf(context) {
  return context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker')
}

/** What Chromium does when its push service has something for this page's service worker. */
async function findDelivery(page) {
  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise((resolve) =>
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL === `${base}/`)
      if (own) resolve(own.registrationId)
    }),
  )
  await cdp.send('ServiceWorker.enable')
  const registrationId = await registered
  return (payload) =>
    cdp.send('ServiceWorker.deliverPushMessage', {
      origin: base,
      registrationId,
      data: JSON.stringify(payload),
    })
}

async function testInstallation() {
  await check('the console can be installed: manifest and icons', async () => {
    const reply = await fetch(`${base}/manifest.webmanifest`)
    expect(/^application\/manifest\+json/.test(reply.headers.get('Content-Type')), 'its type')
    const manifest = await reply.json()
    expect(manifest.display === 'standalone' && manifest.start_url === '/', manifest.display)
    expect(
      manifest.icons.some(({ purpose }) => purpose === 'maskable'),
      'no maskable icon',
    )
    const icons = [...manifest.icons, { src: '/icons/apple-touch.png', sizes: '180x180' }]
    for (const { src, sizes } of icons) {
      const icon = await fetch(`${base}${src}`)
      expect(icon.headers.get('Content-Type') === 'image/png', `${src} is no image`)
      const bytes = Buffer.from(await icon.arrayBuffer())
      const size = `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`
      expect(size === sizes, `${src} has ${size}`)
    }
    const page = await visit.open(browser, watch)
    await page.goto(base)
    const cdp = await page.context().newCDPSession(page)
    const { url, errors } = await cdp.send('Page.getAppManifest')
    expect(url === `${base}/manifest.webmanifest`, `the page names ${url}`)
    expect(errors.length === 0, JSON.stringify(errors))
    await page.context().close()
  })
}

async function testPush() {
  const page = await openConsole()
  const context = page.context()
  const main = page.getByRole('main')
  const bar = page.getByRole('region', { name: 'Emergencies' })
  const icon = page.locator('link[rel="icon"]')
  const shown = (id) => page.evaluate(readNotifications, id)
  const click = async (id, action) =>
    (await workerOf(context)).evaluate(clickNotification, { tag: id, action })
  let deliver
  let alert

  await check('notifications are turned on in this browser', async () => {
    await openPath(page, SETTINGS)
    await main.getByRole('button', { name: 'Turn on in this browser' }).click()
    await main.getByText('On in this browser', { exact: true }).waitFor()
    const browsers = main.getByRole('list', { name: 'Browsers with notifications' })
    await browsers.getByText(/^Chrome/).waitFor()
    const { publicKey } = await (await fetch(`${base}/api/push/key`)).json()
    const used = await page.evaluate(() => localStorage.getItem('test.push'))
    expect(used === publicKey, `subscribed with ${used}`)
    expect(service.received.length === 0, 'turning them on has sent something')
    deliver = await findDelivery(page)
  })

  await check('an SOS comes as a push and is shown with its place and Acknowledge', async () => {
    alert = await raise(tern)
    const { headers, payload } = await service.find(({ alertId }) => alertId === alert.id)
    expect(headers.urgency === 'high' && Number(headers.ttl) > 0, JSON.stringify(headers))
    await deliver(payload)
    const [one] = await until(
      () => shown(alert.id),
      (found) => found[0]?.actions.includes('acknowledge'),
    )
    expect(/SOS button.*Tern 7|Tern 7.*SOS button/.test(one.title), one.title)
    expect(one.body.includes('Fishing harbour'), one.body)
    expect(one.actions.join() === 'acknowledge,open', one.actions.join())
    expect(one.requireInteraction, 'it goes away by itself')
    expect((await shown(alert.id)).length === 1, 'tab and push show one each')
  })

  await check('the push counts as delivered once it is shown', async () => {
    await until(
      async () => (await readAlert(alert.id)).deliveries.filter((one) => one.channel === 'Push'),
      (pushes) => pushes.length === 1 && pushes[0].status === 'delivered',
    )
  })

  await check('the open tab sounds, and shows it in its title and icon', async () => {
    await bar.getByText(/from Tern 7/).waitFor()
    await page.waitForFunction(() => window.sound.hasSignal())
    await page.waitForFunction(() => document.title.startsWith('⚠ 1 emergency · '))
    expect((await icon.getAttribute('href')) === '/favicon-emergency.svg', 'the icon is calm')
    await openPath(page, '/devices')
    await page.waitForFunction(() => document.title === '⚠ 1 emergency · Devices · Perigee')
  })

  await check('the sound is turned off and on beside the emergency', async () => {
    // Clicks count once the bar has been still for a moment.
    await page.locator('.emergencies:not(.settling)').waitFor()
    await bar.getByRole('button', { name: 'Turn the sound off' }).click()
    await page.waitForFunction(() => window.sound.isSilent())
    await page.reload()
    await bar.getByRole('button', { name: 'Turn the sound on' }).waitFor()
    expect(await page.evaluate(() => window.sound.isSilent()), 'forgotten after a reload')
    await page.locator('.emergencies:not(.settling)').waitFor()
    await bar.getByRole('button', { name: 'Turn the sound on' }).click()
    await page.waitForFunction(() => window.sound.hasSignal())
  })

  await check('a tab whose sound is blocked says so, until a click', async () => {
    const tab = await context.newPage()
    tab.setDefaultTimeout(PATIENCE_MS)
    await tab.addInitScript(blockSound)
    await tab.goto(`${base}/devices`)
    await tab.getByText(/browser blocks the sound/).waitFor()
    await tab.getByRole('heading', { level: 1 }).click()
    await tab.getByText(/browser blocks the sound/).waitFor({ state: 'detached' })
    await tab.close()
  })

  await check('a click on the notification opens the alert in the open tab', async () => {
    await click(alert.id, '')
    await page.waitForFunction((path) => location.pathname === path, `/alerts/${alert.id}`)
    expect(context.pages().length === 1, 'another tab was opened')
  })

  await check('Acknowledge of a link that is not valid says that it failed', async () => {
    const test = { title: 'SOS button: Tern 7', alertId: 'alr_none', kind: 'alert' }
    await deliver({ ...test, body: '', emergency: true, link: '/a/none', receipt: null })
    await until(
      () => shown('alr_none'),
      (found) => found.length === 1,
    )
    await click('alr_none', 'acknowledge')
    const [one] = await until(
      () => shown('alr_none'),
      (found) => found[0]?.title === 'Not acknowledged',
    )
    expect(one.actions.join() === 'acknowledge,open', one.actions.join())
  })

  await check('Acknowledge in the notification acknowledges as its user', async () => {
    // The click on the notification before has closed it.
    const { payload } = await service.find(({ alertId }) => alertId === alert.id)
    await deliver(payload)
    await until(
      () => shown(alert.id),
      (found) => found[0]?.actions.includes('acknowledge'),
    )
    await click(alert.id, 'acknowledge')
    const { acknowledgedBy } = await until(
      () => readAlert(alert.id),
      ({ state }) => state === 'acknowledged',
    )
    expect(acknowledgedBy === ana.id, `acknowledged by ${acknowledgedBy}`)
    await until(
      () => shown(alert.id),
      (found) => found[0]?.title === 'Acknowledged',
    )
  })

  await check('then the tab is silent, and its title and icon are as before', async () => {
    await page.locator('.emergency-item:not(.ended)').waitFor({ state: 'detached' })
    await page.waitForFunction(() => window.sound.isSilent())
    await page.waitForFunction(() => !document.title.includes('⚠'))
    expect((await icon.getAttribute('href')) === '/favicon.svg', 'the icon is not calm')
  })

  await check('Test plays the sound once, though it is off', async () => {
    await openPath(page, SETTINGS)
    await main.getByRole('switch', { name: 'Sound in an emergency' }).click()
    await main.getByRole('button', { name: 'Test', exact: true }).click()
    await page.waitForFunction(() => window.sound.hasSignal())
    await page.waitForFunction(() => window.sound.isSilent())
    await main.getByRole('switch', { name: 'Sound in an emergency' }).click()
  })

  await check(
    'a browser without push notifies on the desktop while its tab is hidden',
    async () => {
      await main.getByRole('button', { name: 'Turn off in this browser' }).click()
      await main.getByRole('button', { name: 'Turn on in this browser' }).waitFor()
      await page.evaluate(() =>
        Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }),
      )
      const before = service.received.length
      const second = await raise(truck)
      const [one] = await until(
        () => shown(second.id),
        (found) => found[0]?.title === 'SOS button from Truck 3',
      )
      expect(one.body.includes('Fishing harbour'), one.body)
      expect(service.received.length === before, 'a push was sent')
      await account.call('POST', `/api/alerts/${second.id}/acknowledge`)
      await until(
        () => shown(second.id),
        (found) => found.length === 0,
      )
    },
  )

  await check('without a connection a page says so, and comes when it is back', async () => {
    const tab = await context.newPage()
    tab.setDefaultTimeout(PATIENCE_MS)
    await context.setOffline(true)
    await tab.goto(`${base}/devices`)
    await tab.getByRole('heading', { name: 'No connection' }).waitFor()
    await context.setOffline(false)
    await tab.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    await tab.close()
    const cached = await page.evaluate(async () => (await caches.keys()).length)
    expect(cached === 0, `${cached} caches`)
  })

  await check('a user who gets nothing by push is informed, and where to change it', async () => {
    const setPush = (push) => account.call('PATCH', `/api/users/${ana.id}`, { notify: { push } })
    await setPush(false)
    await openPath(page, '/devices')
    await openPath(page, SETTINGS)
    await main.getByText(/Nothing comes to any of your browsers/).waitFor()
    await main.getByRole('link', { name: 'Open your user' }).click()
    await main.getByRole('group', { name: 'Gets alerts by' }).waitFor()
    await setPush(true)
    await openPath(page, SETTINGS)
    await main.getByRole('button', { name: 'Turn on in this browser' }).waitFor()
    expect((await main.locator('.note').count()) === 0, 'it still says so')
  })

  await check('signing out ends the notifications of this browser', async () => {
    await openPath(page, SETTINGS)
    await main.getByRole('button', { name: 'Turn on in this browser' }).click()
    await main.getByText('On in this browser', { exact: true }).waitFor()
    await page.getByRole('button', { name: /Account and display/ }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const left = await page.evaluate(() => [
      localStorage.getItem('test.push'),
      localStorage.getItem('perigee.push'),
    ])
    expect(
      left.every((one) => one === null),
      JSON.stringify(left),
    )
    await signIn(page)
    await openPath(page, SETTINGS)
    await main.getByRole('button', { name: 'Turn on in this browser' }).waitFor()
    expect((await main.locator('.sessions li').count()) === 0, 'it is still listed')
  })
  await context.close()
}

async function testSmallScreen() {
  for (const [colorScheme, device] of [
    ['light', buoy],
    ['dark', skiff],
  ])
    await check(`settings and bar fit 375 px, and axe finds nothing, ${colorScheme}`, async () => {
      const viewport = { width: 375, height: 740 }
      const page = await openConsole({ viewport, colorScheme, bypassCSP: true })
      const { id } = await raise(device)
      await openPath(page, SETTINGS)
      await settle(page)
      await page.getByRole('button', { name: 'Turn the sound off' }).waitFor()
      await page.locator('.emergencies:not(.settling)').waitFor()
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(overflow <= 0, `the page is ${overflow} px too wide`)
      const found = await findViolations(page, 'notifications')
      expect(found.length === 0, found.join('\n'))
      await account.call('POST', `/api/alerts/${id}/acknowledge`)
      await page.context().close()
    })
}
