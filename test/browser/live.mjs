// What pages show by themselves: tracks, the places of alerts, sources and quarantine.
// Needs ADMIN_TOKEN of the service at BASE_URL.
import { TestAccount } from './support/accounts.mjs'
import { check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, settle, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@live.example'
const IDENTIFIER = 'live-tern'
const MINUTE_MS = 60_000

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 1 })
const timeOf = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString()

try {
  const { device, alert, url } = await makeContent()
  const page = await visit.open(browser, watch, { reducedMotion: 'reduce', bypassCSP: true })
  await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
  const canvas = page.locator('.map-canvas')

  await check('a track of 80 km fills the map', async () => {
    await openPath(page, `/map/${device.id}/track`)
    await page.getByText('10 positions').waitFor()
    await waitForView(({ zoom }) => zoom > 8)
  })

  await check('an open track gets what the device reports, and the map stays', async () => {
    await page.locator('.stream-state.live').waitFor()
    const before = await canvas.getAttribute('data-view')
    await account.report(device.id, { latitude: 38.95, longitude: -9.1, speed: 31 })
    await page.getByText('11 positions').waitFor()
    await page.getByText('31 km/h').first().waitFor()
    await page.waitForFunction(() => document.querySelector('.map-canvas').dataset.track === '11')
    const after = await canvas.getAttribute('data-view')
    expect(after === before, `the map moved from ${before} to ${after}`)
  })

  await check('a track that is looked at earlier stays there', async () => {
    const slider = page.getByRole('slider', { name: 'Time' })
    await slider.focus()
    await page.keyboard.press('Home')
    const start = await slider.inputValue()
    await account.report(device.id, { latitude: 38.96, longitude: -9.1 })
    await page.getByText('12 positions').waitFor()
    expect((await slider.inputValue()) === start, 'the time has moved')
  })

  await check('an alert is shown where it happened, and its device where it is', async () => {
    await openPath(page, `/alerts/${alert.id}`)
    await page.getByRole('link', { name: 'Show on the map' }).click()
    const card = page.getByRole('region', { name: 'Low battery' })
    await card.getByText('38.55000° N, 9.25000° W').waitFor()
    await waitForView(isNear(38.55, -9.25))
    expect((await canvas.getAttribute('data-event')) === 'Low battery', 'the place is not marked')
    await card.getByRole('link', { name: 'Where it is now' }).click()
    await page.getByRole('region', { name: 'Tern 7' }).getByText('38.96000° N').waitFor()
    await waitForView(isNear(38.96, -9.1))
    expect((await canvas.getAttribute('data-event')) === '', 'the place is still marked')
  })

  await check('a position in quarantine appears on the card and in the list', async () => {
    const card = page.getByRole('region', { name: 'Tern 7' })
    await push({ id: IDENTIFIER, lat: 10, lon: 10, timestamp: timeOf(1) })
    await card.getByText('1 position is in quarantine').waitFor()
    await card.getByText(/10\.00000° N.*Too far away/).waitFor()
    await openPath(page, '/devices')
    await page.locator('tr', { hasText: 'Tern 7' }).getByText('1 in quarantine').waitFor()
    await openPath(page, `/devices/${device.id}`)
    await page.locator('.quarantined li').waitFor()
    await push({ id: IDENTIFIER, lat: 11, lon: 11, timestamp: timeOf(2) })
    await page.locator('.quarantined li').nth(1).waitFor()
    await page.getByText('2 positions are in quarantine').waitFor()
  })

  await check('the card of a phone leaves the device in sight when it grows', async () => {
    await page.setViewportSize({ width: 375, height: 812 })
    await openPath(page, '/')
    await openPath(page, `/map/${device.id}`)
    await page.locator('.device-card').getByText('Newest of them').waitFor()
    await page.waitForFunction(() => {
      const map = document.querySelector('.map-canvas')
      const [, y] = (map.dataset.marker ?? '').split(',').map(Number)
      const { top } = document.querySelector('.device-card').getBoundingClientRect()
      return map.getBoundingClientRect().top + y + 12 < top
    })
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  await check('sources count what waits, without a reload', async () => {
    await openPath(page, '/sources')
    const row = page.locator('tr', { hasText: 'Phones' })
    const countIn = (label) => row.locator(`td[data-label="${label}"]`)
    await countIn('Unclaimed').getByText('0', { exact: true }).waitFor()
    await push({ id: 'nobody', lat: 1, lon: 1 })
    await push({ id: 'nobody', lat: 'north', lon: 1 })
    await countIn('Unclaimed').getByText('1', { exact: true }).waitFor()
    await countIn('Not understood').getByText('1', { exact: true }).waitFor()
  })

  await check('axe finds nothing, and at 375 px no page is wider than the screen', async () => {
    const found = []
    for (const path of [
      `/map/${device.id}`,
      `/map/${device.id}?alert=${alert.id}`,
      `/devices/${device.id}`,
      '/devices',
      '/sources',
    ]) {
      await openPath(page, path)
      await settle(page)
      found.push(...(await findViolations(page, path)))
      await page.setViewportSize({ width: 375, height: 812 })
      await settle(page)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (overflow > 0) found.push(`${path} is ${overflow} px too wide`)
      await page.setViewportSize({ width: 1440, height: 900 })
    }
    expect(found.length === 0, found.join('\n'))
  })

  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
  })

  /** Waits until the map has moved to where it should be. */
  async function waitForView(isWanted) {
    const read = async () => {
      const [zoom, latitude, longitude] = ((await canvas.getAttribute('data-view')) ?? '')
        .split(',')
        .map(Number)
      return { zoom, latitude, longitude }
    }
    for (let tries = 0; tries < 300; tries++) {
      if (isWanted(await read())) return
      await page.waitForTimeout(200)
    }
    throw new Error(`The map shows ${JSON.stringify(await read())}.`)
  }

  function push(query) {
    return fetch(`${url}?${new URLSearchParams(query)}`)
  }
} finally {
  await browser.close()
}
report()

function isNear(latitude, longitude) {
  return (view) =>
    Math.abs(view.latitude - latitude) < 0.05 && Math.abs(view.longitude - longitude) < 0.05
}

/** A device with a track of 80 km and an alert at its beginning, and a source. */
async function makeContent() {
  await account.call('POST', '/api/users', {
    name: 'Ana',
    email: EMAIL,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges: ['admin'],
    password: PASSWORD,
  })
  const device = await account.addDevice({ name: 'Tern 7', identifier: IDENTIFIER })
  for (let step = 0; step < 10; step++)
    await account.report(device.id, {
      latitude: 38.4 + step * 0.06,
      longitude: -9.4 + step * 0.03,
      dateTime: timeOf(-100 + step * 10),
    })
  const { alert } = await account.call('POST', `/api/devices/${device.id}/alerts`, {
    alertName: 'LowBattery',
    latitude: 38.55,
    longitude: -9.25,
    dateTime: timeOf(-75),
  })
  const { url } = await account.call('POST', '/api/sources', { name: 'Phones', provider: 'osmand' })
  return { device, alert, url }
}
