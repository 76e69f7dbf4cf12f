// Handles emergencies as a dispatcher does, on a phone and on a large screen:
// node test/browser/emergencies.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment, to open accounts of its own.
import { TestAccount } from './support/accounts.mjs'
import { check, expect, launch, PATIENCE_MS, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, settle, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@emergencies.example'
const MINUTE_MS = 60_000
/** Shorter than anything the bar waits for. */
const STEP_MS = 50
const SIZES = [
  { width: 375, height: 740 },
  { width: 1440, height: 900 },
]

const watch = new Watch()
const browser = await launch()

try {
  for (const viewport of SIZES) {
    await testBar(viewport)
    await testIncident(viewport)
  }
  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
  })
} finally {
  await browser.close()
}
report()

async function openAccount() {
  const account = await TestAccount.open({ licenses: 9 })
  await account.call('POST', '/api/users', {
    name: 'Ana',
    email: EMAIL,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges: ['admin'],
    password: PASSWORD,
  })
  return account
}

async function openConsole(account, options) {
  const page = await visit.open(browser, watch, { reducedMotion: 'reduce', ...options })
  await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
  return page
}

async function testBar(viewport) {
  const account = await openAccount()
  const [tern, truck, buoy] = await Promise.all(
    ['Tern 7', 'Truck 3', 'Buoy 9'].map((name) => account.addDevice({ name })),
  )
  const raise = async ({ id }) =>
    (await account.call('POST', `/api/devices/${id}/alerts`, { alertName: 'SOSButton' })).alert
  const stateOf = async ({ id }) => (await account.call('GET', `/api/alerts/${id}`)).alert.state
  const page = await openConsole(account, { viewport })
  await openPath(page, '/devices')
  await page.locator('.stream-state.live').waitFor({ state: 'attached' })
  // What a click means depends on when it comes, and the machine may be slow. The time to stop at
  // must not be past when the page learns of it.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 10_000)
  const bar = page.getByRole('region', { name: 'Emergencies' })
  const rowOf = ({ name }) => bar.locator('li', { hasText: name })
  const buttonOf = (device) => rowOf(device).getByRole('button', { name: 'Acknowledge' })
  /** Lets the page's time go on until the element is there, or no longer there. */
  const pass = async (locator, { isThere = true, pauseMs = 0 } = {}) => {
    const deadline = Date.now() + PATIENCE_MS
    while ((await locator.count()) > 0 !== isThere) {
      if (Date.now() > deadline) {
        const shown = (await bar.allInnerTexts()).join().replaceAll(/\s+/g, ' ')
        throw new Error(`${locator} is ${isThere ? 'not there' : 'still there'} in: ${shown}`)
      }
      await page.clock.runFor(STEP_MS)
      await page.waitForTimeout(pauseMs)
    }
  }
  /** Slowly: the page's time must not run out while the server is asked. */
  const until = (locator) => pass(locator, { pauseMs: 4 * STEP_MS })
  const gone = (locator) => pass(locator, { isThere: false })
  const still = async () => {
    do {
      await pass(page.locator('.emergencies:not(.settling)'))
      // The browser reports a resized row with its next frame, however late that comes.
      await rowOf(tern).or(rowOf(truck)).first().scrollIntoViewIfNeeded()
    } while ((await page.locator('.emergencies.settling').count()) > 0)
  }
  const at = `at ${viewport.width} px`
  let first
  let second

  await check(
    `a click does not acknowledge an SOS that arrives under the pointer, ${at}`,
    async () => {
      first = await raise(tern)
      await until(buttonOf(tern))
      await still()
      const { x, y, width, height } = await buttonOf(tern).boundingBox()
      const middle = [x + width / 2, y + height / 2]
      await page.mouse.move(...middle)
      second = await raise(truck)
      await until(bar.getByText(/from Truck 3/))
      await page.mouse.click(...middle)
      await until(page.getByText(/has just changed/))
      expect((await stateOf(second)) === 'open', 'the new one is acknowledged')
      expect((await stateOf(first)) === 'open', 'a click in the second of a change has counted')
      const now = await buttonOf(tern).boundingBox()
      expect(now.x === x && now.y === y, `the button moved from ${x}, ${y} to ${now.x}, ${now.y}`)
      await still()
      await page.mouse.click(...middle)
      await until(rowOf(tern).getByText('Acknowledged'))
      expect((await stateOf(first)) === 'acknowledged', 'the first one is not acknowledged')
      expect((await stateOf(second)) === 'open', 'the second one is acknowledged')
    },
  )

  await check(`an acknowledgement is undone in its place, ${at}`, async () => {
    await still()
    await rowOf(tern).getByRole('button', { name: 'Undo' }).click()
    await until(buttonOf(tern))
    expect((await stateOf(first)) === 'open', 'it is not open again')
    const names = await bar.locator('li').allTextContents()
    expect(/Tern 7/.test(names[0]) && /Truck 3/.test(names[1]), names.join(' | '))
  })

  await check(`the place of one that ended elsewhere stays empty at first, ${at}`, async () => {
    await still()
    const { x, y, width, height } = await buttonOf(tern).boundingBox()
    const below = await buttonOf(truck).boundingBox()
    await account.call('POST', `/api/alerts/${first.id}/acknowledge`)
    await until(rowOf(tern).and(bar.locator('.ended')))
    await page.mouse.click(x + width / 2, y + height / 2)
    const after = await buttonOf(truck).boundingBox()
    expect(after.y === below.y, `the next one moved from ${below.y} to ${after.y}`)
    expect((await stateOf(second)) === 'open', 'another is acknowledged')
    expect((await rowOf(tern).getByRole('button', { name: 'Undo' }).count()) === 0, 'not ours')
    await gone(rowOf(tern))
  })

  await check(`the keyboard acknowledges the one that has the focus, at once, ${at}`, async () => {
    await still()
    await buttonOf(truck).focus()
    const third = await raise(buoy)
    await until(rowOf(buoy))
    await page.keyboard.press('Enter')
    await until(rowOf(truck).getByText('Acknowledged'))
    expect((await stateOf(second)) === 'acknowledged', 'it is not acknowledged')
    expect((await stateOf(third)) === 'open', 'another is acknowledged')
    await gone(rowOf(truck))
    const { width } = await page.evaluate(() => ({
      width: document.documentElement.scrollWidth - innerWidth,
    }))
    expect(width <= 0, `the page is ${width} px too wide`)
  })
  await page.context().close()
}

/** What is copied: a click has ended before the browser has written it. */
async function readClipboard(page, isWanted) {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    if (isWanted(copied) || Date.now() > deadline) return copied
    await page.waitForTimeout(STEP_MS)
  }
}

/** Two hours of a ship on its way north-west. */
function makeTrack() {
  const start = Date.now() - 120 * MINUTE_MS
  return Array.from({ length: 24 }, (_, at) => ({
    dateTime: new Date(start + at * 5 * MINUTE_MS).toISOString(),
    latitude: 38.4 + at * 0.01,
    longitude: -9.6 - at * 0.01,
    battery: 80 - at,
    accuracy: 25,
  }))
}

async function testIncident(viewport) {
  const account = await openAccount()
  const tern = await account.addDevice({ name: 'Tern 7' })
  await account.call('POST', `/api/devices/${tern.id}/locations`, { locations: makeTrack() })
  await account.addDevice({ name: 'Far 1' }, { latitude: 60, longitude: 5 })
  await account.addDevice({ name: 'Near 2' }, { latitude: 38.7, longitude: -9.3 })
  const { alert } = await account.call('POST', `/api/devices/${tern.id}/alerts`, {
    alertName: 'SOSButton',
    text: 'Taking on water',
    latitude: 38.65,
    longitude: -9.85,
  })
  const readAlert = async () => (await account.call('GET', `/api/alerts/${alert.id}`)).alert
  const page = await openConsole(account, {
    viewport,
    bypassCSP: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const main = page.getByRole('main')
  const dialog = page.getByRole('dialog')
  const at = `at ${viewport.width} px`
  await openPath(page, `/alerts/${alert.id}`)
  await settle(page)

  await check(`an incident has a map with track, live position and neighbours, ${at}`, async () => {
    await main.getByRole('heading', { level: 1, name: 'SOS button from Tern 7' }).waitFor()
    const map = page.locator('.incident-map .map-canvas')
    await page.locator('.incident-map .map-tools').waitFor()
    await page.locator('.incident-map .map-canvas[data-drawn="2"]').waitFor()
    await page.locator('.incident-map .map-canvas:not([data-track="0"])').waitFor()
    const before = Number(await map.getAttribute('data-track'))
    await main.getByText('38.65000, -9.85000').waitFor()
    const near = main.locator('.nearest li')
    expect(/Near 2.*\d km.*\d+° E/s.test(await near.first().textContent()), 'not the nearest')
    await account.report(tern.id, { latitude: 38.8, longitude: -9.9, battery: 41, accuracy: 12 })
    await main.getByText('38.80000, -9.90000').waitFor()
    await main.getByText('exact to 12 m').waitFor()
    await main.getByText('41 %').waitFor()
    await page.locator(`.incident-map .map-canvas:not([data-track="${before}"])`).waitFor()
    await main.getByText(/^Raised at (.+ of .+, )?38\.65000° N/).waitFor()
  })

  await check(`a position is copied in each notation, and opened elsewhere, ${at}`, async () => {
    const expected = {
      'decimal degrees': '38.80000, -9.90000',
      DMS: '38° 48′ 00.0″ N, 009° 54′ 00.0″ W',
      DDM: '38° 48.000′ N, 009° 54.000′ W',
      UTM: /^29S 42\d{4}mE 429\d{4}mN$/,
      MGRS: /^29S MC 2\d{4} 9\d{4}$/,
    }
    for (const [name, value] of Object.entries(expected)) {
      await main.getByRole('button', { name: `Copy ${name}`, exact: true }).click()
      const isRight = (copied) => (value instanceof RegExp ? value.test(copied) : value === copied)
      const copied = await readClipboard(page, isRight)
      expect(isRight(copied), `${name} is copied as ${copied}`)
    }
    const hrefs = await main
      .locator('.position-links a')
      .evaluateAll((all) => all.map((a) => a.href))
    expect(hrefs[0] === 'geo:38.800000,-9.900000', hrefs[0])
    expect(hrefs[1].startsWith('https://www.openstreetmap.org/?mlat=38.800000'), hrefs[1])
  })

  await check(`an incident is acknowledged, noted, resolved and reopened, ${at}`, async () => {
    await main.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await main.getByText(/^Handled by/).waitFor()
    await main.getByLabel('New note').fill('Helicopter on its way.')
    await main.getByRole('button', { name: 'Add note' }).click()
    await main.locator('.log-entry.noted', { hasText: 'Helicopter on its way.' }).waitFor()
    await main.getByRole('button', { name: 'Resolve' }).click()
    await dialog.getByLabel(/^Note for the log/).fill('All aboard are safe.')
    await dialog.getByRole('button', { name: 'It is over' }).click()
    await main.locator('.log-entry.resolved', { hasText: 'All aboard are safe.' }).waitFor()
    expect((await readAlert()).state === 'resolved', 'it is not resolved')
    await main.getByRole('button', { name: 'Reopen' }).click()
    await dialog.getByRole('button', { name: 'Reopen it' }).click()
    await main.getByText('Nobody handles it yet.').waitFor()
    await main.getByRole('button', { name: 'Cancel alert' }).click()
    await dialog.getByText('Everybody who was sent a message about it is notified.').waitFor()
    await dialog.getByRole('button', { name: 'It is a false alarm' }).click()
    await main.locator('.log-entry.cancelled').waitFor()
    const { state, log } = await readAlert()
    const actions = log.map(({ action }) => action).join(' ')
    expect(state === 'cancelled', state)
    // A cancellation also acknowledges.
    const steps = 'raised acknowledged noted resolved reopened acknowledged cancelled'
    expect(actions === steps, actions)
    await main.locator('.recipients h3', { hasText: 'Ana' }).waitFor()
  })

  await check(`steps stay in reach, nothing is cut off, and axe finds nothing, ${at}`, async () => {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow <= 0, `the page is ${overflow} px too wide`)
    const boxes = await page
      .locator('.incident-actions .button')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()))
    const isCut = boxes.some(({ left, right }) => left < 0 || right > viewport.width)
    expect(!isCut, JSON.stringify(boxes))
    if (viewport.width < 640)
      expect(
        boxes.every(({ top, bottom }) => top > 0 && bottom <= viewport.height),
        JSON.stringify(boxes),
      )
    const found = await findViolations(page, 'incident')
    expect(found.length === 0, found.join('\n'))
  })

  await check(`the list is filtered by state, ${at}`, async () => {
    await openPath(page, '/alerts?show=cancelled&emergency=true')
    await main.locator('tr', { hasText: 'Taking on water' }).getByText('Cancelled').waitFor()
    await main.getByText('Resolved', { exact: true }).first().click()
    await main.getByText('No resolved alerts').waitFor()
  })

  await check(`the card on the map does not cover the marker, ${at}`, async () => {
    await openPath(page, `/map/${tern.id}`)
    await page.locator('.map-canvas[data-marker]').waitFor()
    await page.locator('.device-card').waitFor()
    // The map moves again when the card grows.
    await page.waitForFunction(() => {
      const map = document.querySelector('.map-canvas')
      const [x, y] = map.dataset.marker.split(',').map(Number)
      const frame = map.getBoundingClientRect()
      const card = document.querySelector('.device-card').getBoundingClientRect()
      const [left, top] = [frame.left + x, frame.top + y]
      const isAside = left < card.left || left > card.right
      return (isAside || top < card.top - 10) && top > frame.top + 10
    })
  })
  await page.context().close()
}
