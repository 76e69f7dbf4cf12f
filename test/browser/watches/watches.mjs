// Starts, keeps and misses check-ins, and reads places in words, on a phone and on a desktop.
// Needs ADMIN_TOKEN of the service at BASE_URL.
import { TestAccount } from '../support/accounts.mjs'
import { check, expect, launch, report, Watch } from '../support/browser.mjs'
import { findViolations, openPath, settle, visit } from '../support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@watches.example'
const READER = 'rui@watches.example'
const CONFINED = 'eva@watches.example'
const HOUR_MS = 3_600_000
/** The sweep runs once a minute. */
const SWEEP_PATIENCE_MS = 240_000
const ANCHORAGE = { latitude: 37.73, longitude: -25.66 }
const COORDINATES = '37.73000° N, 25.66000° W'
const SIZES = [
  { width: 375, height: 812 },
  { width: 1440, height: 900 },
]

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 5 })
const create = (path, body) => account.call('POST', path, body)
const ahead = (ms) => new Date(Date.now() + ms).toISOString()
const startWatch = async (name, more) => {
  const body = { name, deviceId: device.id, due: ahead(6 * HOUR_MS), counts: 'checkIn', ...more }
  return (await create('/api/watches', body)).watch
}
const readWatch = async (id) => (await account.call('GET', `/api/watches/${id}`)).watch

const person = { country: 'PT', timeZone: 'Atlantic/Azores', password: PASSWORD }
await create('/api/users', { ...person, name: 'Ana', email: EMAIL, privileges: ['admin'] })
await create('/api/users', { ...person, name: 'Rui', email: READER, privileges: ['read'] })
const pilot = await account.addDevice({ name: 'Pilot 2' })
await create('/api/groups', { name: 'Harbour', devices: [pilot.id] })
await create('/api/users', {
  ...person,
  name: 'Eva',
  email: CONFINED,
  privileges: ['read', 'write'],
  group: 'Harbour',
})
await create('/api/zones', {
  name: 'Anchorage',
  shape: { type: 'Circle', center: [ANCHORAGE.longitude, ANCHORAGE.latitude], radius: 900 },
})
const device = await account.addDevice({ name: 'Tern 7' }, ANCHORAGE)
await startWatch('Harbour round', { deviceId: pilot.id })
// The first to be missed, so that the others need not wait for it.
const missed = await startWatch('Night crossing', { due: ahead(5000), graceMinutes: 0 })

/** Rows are cards on a phone. */
const rowOf = (page, name) => page.locator('tbody tr', { hasText: name })
const widthOf = (page) => page.evaluate(() => document.documentElement.scrollWidth)
const isFine = async (page, { width }, name) => {
  await settle(page)
  const violations = await findViolations(page, name)
  expect(violations.length === 0, JSON.stringify(violations))
  const shown = await widthOf(page)
  expect(shown <= width, `${name} is ${shown} px wide`)
}

try {
  for (const viewport of SIZES) {
    const at = `at ${viewport.width} px`
    const page = await visit.open(browser, watch, { viewport, bypassCSP: true })
    await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
    const dialog = page.getByRole('dialog')
    const badge = page.locator('.facts .badge')
    const idHere = () => new URL(page.url()).pathname.split('/').pop()

    await check(`a check-in is started from the device’s page, ${at}`, async () => {
      await openPath(page, `/devices/${device.id}`)
      await page.getByRole('link', { name: 'Start a check-in' }).click()
      await page.locator('.picker .chip', { hasText: 'Tern 7' }).waitFor()
      await isFine(page, viewport, `the form ${at}`)
      await page.getByRole('button', { name: 'Start it' }).click()
      await page.locator('.field-error', { hasText: 'Name' }).waitFor()
      await page.getByLabel('Name', { exact: true }).fill(`Crossing ${viewport.width}`)
      await page.getByLabel('Deadline', { exact: true }).fill('2020-02-03T18:00')
      await page.getByRole('button', { name: 'Start it' }).click()
      await page.locator('.field-error', { hasText: 'Deadline must be in the future' }).waitFor()
      await page.getByText('Again and again', { exact: true }).click()
      await page.getByLabel('Hours', { exact: true }).fill('4')
      await page.getByLabel('Minutes', { exact: true }).fill('30')
      await page.getByLabel(/^Reminder/).fill('270')
      await page.getByRole('button', { name: 'Start it' }).click()
      await page.locator('.field-error', { hasText: 'less than the interval' }).waitFor()
      await page.getByLabel(/^Reminder/).fill('30')
      await page.getByLabel('What counts').selectOption('checkIn')
      await page.getByRole('button', { name: 'Start it' }).click()
      await page.getByText('To report every 4 h 30 min').waitFor()
      const stored = await readWatch(idHere())
      expect(stored.everyMinutes === 270 && stored.counts === 'checkIn', JSON.stringify(stored))
      expect(stored.deviceId === device.id, 'it is of another device')
      await isFine(page, viewport, `the check-in ${at}`)
    })

    await check(`somebody checks in, and the deadline is extended, ${at}`, async () => {
      const before = await readWatch(idHere())
      expect(before.lastCheckIn === null, 'somebody has checked in unasked')
      await page.getByRole('button', { name: 'Check in now' }).click()
      await page.getByText('Checked in.', { exact: true }).waitFor()
      expect((await readWatch(before.id)).lastCheckIn !== null, 'nobody has checked in')
      const { nextDue } = await readWatch(before.id)
      await page.getByRole('button', { name: 'Extend…' }).click()
      await dialog.getByText('Until…', { exact: true }).click()
      await dialog.getByLabel('New deadline').fill('2020-02-03T18:00')
      await dialog.getByRole('button', { name: 'Extend', exact: true }).click()
      await dialog.locator('.field-error', { hasText: 'must be in the future' }).waitFor()
      await dialog.getByText('3 hours', { exact: true }).click()
      await dialog.getByRole('button', { name: 'Extend', exact: true }).click()
      await page.getByText('The deadline is moved.').waitFor()
      const moved = Date.parse((await readWatch(before.id)).nextDue) - Date.parse(nextDue)
      expect(moved === 3 * HOUR_MS, `the deadline moved by ${moved} ms`)
    })

    await check(`a dialog that is closed gives the focus back, ${at}`, async () => {
      const opener = page.getByRole('button', { name: 'Extend…' })
      await opener.focus()
      await page.keyboard.press('Enter')
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.waitForFunction(() => document.activeElement.textContent.includes('Extend…'))
    })

    await check(`the link to check in is shown, and copied, ${at}`, async () => {
      await page.getByRole('button', { name: 'Check-in link' }).click()
      const link = await dialog.locator('pre').textContent()
      expect(/\/c\/[\w.-]+$/.test(link.trim()), `the link is ${link}`)
      await dialog.getByRole('button', { name: 'Copy' }).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    })

    await check(`a check-in is changed, then completed, ${at}`, async () => {
      await page.getByRole('link', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Grace, in minutes').fill('45')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('.facts').getByText('45 min', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Complete', exact: true }).click()
      await dialog.getByRole('button', { name: 'It is completed' }).click()
      await badge.getByText('Completed').waitFor()
      expect((await readWatch(idHere())).state === 'completed', 'it goes on')
      const ended = page.getByRole('button', { name: 'Check in now' })
      expect((await ended.count()) === 0, 'one can check in afterwards')
    })

    await check(`a step after the end is refused in words, ${at}`, async () => {
      const running = await startWatch(`Ended ${viewport.width}`)
      await openPath(page, `/watches/${running.id}`)
      await badge.getByText('Running').waitFor()
      // The page goes on showing it as it was, as one does that was opened a moment ago.
      const here = `**/api/watches/${running.id}`
      const old = JSON.stringify({ success: true, watch: running })
      await page.route(here, (route) =>
        route.fulfill({ contentType: 'application/json', body: old }),
      )
      await create(`/api/watches/${running.id}/complete`)
      await page.getByRole('button', { name: 'Check in now' }).click()
      await page.getByRole('alert').getByText('has ended already').waitFor()
      await page.unroute(here)
      await badge.getByText('Completed').waitFor()
    })

    await check(`a missed check-in stands out, and leads to its alert, ${at}`, async () => {
      await openPath(page, '/watches?show=overdue')
      const row = rowOf(page, 'Night crossing')
      await row.waitFor({ timeout: SWEEP_PATIENCE_MS })
      await row.locator('.badge.bad', { hasText: 'Overdue' }).waitFor()
      await row.getByText(/^passed .+ ago$/).waitFor()
      await isFine(page, viewport, `the list ${at}`)
      await row.getByRole('link', { name: 'Night crossing' }).click()
      await page.getByRole('alert').getByText('No check-in arrived in time.').waitFor()
      await isFine(page, viewport, `the missed one ${at}`)
      await page.getByRole('link', { name: 'Show its alert' }).click()
      await page.getByRole('heading', { level: 1, name: 'Missed check-in' }).waitFor()
      await openPath(page, `/devices/${device.id}`)
      const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Check-ins' }) })
      await card.locator('li', { hasText: 'Night crossing' }).getByText('Overdue').waitFor()
    })

    await check(`places are shown in words beside coordinates, ${at}`, async () => {
      const { alert } = await create(`/api/devices/${device.id}/alerts`, {
        alertName: 'LowBattery',
        ...ANCHORAGE,
      })
      await openPath(page, `/alerts/${alert.id}`)
      const facts = page.locator('.facts')
      await facts.getByText('in Anchorage').waitFor()
      await facts.getByText(COORDINATES).waitFor()
      await openPath(page, '/alerts')
      await rowOf(page, 'Low battery').first().getByText('in Anchorage').waitFor()
      const asked = () => watch.requests.filter((url) => url.includes('/api/place?')).length
      await openPath(page, `/devices/${device.id}`)
      await facts.getByText('in Anchorage').waitFor()
      await facts.getByText(COORDINATES).waitFor()
      const before = asked()
      await openPath(page, `/map/${device.id}`)
      await page.locator('.device-card').getByText('in Anchorage').waitFor()
      await page.locator('.device-card').getByText(COORDINATES).waitFor()
      expect(asked() === before, 'the map asks for a place that is known')
    })
    await page.context().close()
  }

  await check('a check-in without a device names what is missing', async () => {
    const page = await visit.open(browser, watch)
    await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
    await openPath(page, '/watches/new')
    await page.getByRole('button', { name: 'Start it' }).click()
    await page.locator('.field-error', { hasText: 'Name must not be empty' }).waitFor()
    await page.locator('.field-error', { hasText: 'Device is required' }).waitFor()
    await page.context().close()
  })

  await check('who got a link checks in, without signing in', async () => {
    const { id } = await startWatch('By link')
    const { url } = await create(`/api/watches/${id}/link`)
    const page = await visit.open(browser, watch, { viewport: SIZES[0] })
    await page.goto(url)
    await page.getByText('By link', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Check in' }).click()
    await page.locator('.state.done', { hasText: 'Checked in.' }).waitFor()
    expect((await widthOf(page)) <= SIZES[0].width, 'the page is too wide')
    expect((await readWatch(id)).lastCheckIn !== null, 'nobody has checked in')
    await page.context().close()
  })

  await check('the list follows events', async () => {
    const page = await visit.open(browser, watch)
    await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
    const running = await startWatch('Followed', { due: undefined, everyMinutes: 60 })
    await openPath(page, '/watches')
    const row = rowOf(page, 'Followed')
    await row.getByText('Never').waitFor()
    await create(`/api/watches/${running.id}/checkIn`)
    await row.getByText('just now').waitFor()
    await page.context().close()
  })

  await check('who may only read sees no buttons', async () => {
    const page = await visit.open(browser, watch)
    await visit.signIn(page, { account: account.userName, email: READER, password: PASSWORD })
    await openPath(page, '/watches')
    await rowOf(page, 'Night crossing').waitFor()
    const add = page.getByRole('link', { name: 'Start a check-in' })
    expect((await add.count()) === 0, 'the list offers to start one')
    await openPath(page, `/watches/${missed.id}`)
    await page.locator('.facts .badge').getByText('Overdue').waitFor()
    const buttons = page.locator('.page-header .actions').getByRole('button')
    expect((await buttons.count()) === 0, 'the page has buttons')
    await openPath(page, `/devices/${device.id}`)
    await page.locator('.device-watches').getByText('Night crossing').waitFor()
    expect((await add.count()) === 0, 'the device’s page offers to start one')
    await openPath(page, '/watches/new')
    await page.getByText('You may not use this page').waitFor()
    await page.context().close()
  })

  await check('who is confined sees and starts those of its own devices alone', async () => {
    const page = await visit.open(browser, watch)
    await visit.signIn(page, { account: account.userName, email: CONFINED, password: PASSWORD })
    await openPath(page, '/watches?show=all')
    await rowOf(page, 'Harbour round').waitFor()
    expect((await rowOf(page, 'Night crossing').count()) === 0, 'the list has one of another')
    await openPath(page, `/watches/${missed.id}`)
    await page.getByRole('heading', { name: 'There is no watch with this id' }).waitFor()
    await openPath(page, `/watches/new?device=${device.id}`)
    await page.getByLabel('Name', { exact: true }).fill('Of another')
    await page.getByRole('button', { name: 'Start it' }).click()
    await page.locator('.field-error', { hasText: 'Device is not a device' }).waitFor()
    await page.context().close()
  })

  await check('no page had an error', () =>
    expect(watch.faults.length === 0, watch.faults.join('\n')),
  )
} finally {
  await browser.close()
}
report()
