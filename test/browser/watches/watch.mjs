// Draws zones, makes rules and looks at trips: node test/browser/watch.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment, to open an account of its own.
import { readFileSync } from 'node:fs'
import { TestAccount } from '../support/accounts.mjs'
import { check, expect, launch, report, Watch } from '../support/browser.mjs'
import { findViolations, openPath, settle, visit } from '../support/visit.mjs'

const EVIL = '<img src=x onerror=alert(1)>'
const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@watch.example'
const MINUTE_MS = 60_000
const HARBOUR = { latitude: 38.6, longitude: -9.5 }
const OUTSIDE = { latitude: 38.8, longitude: -9.8 }

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 2 })
const newPage = (options) => visit.open(browser, watch, options)
const signIn = (page) =>
  visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })

try {
  const made = await makeContent()
  const page = await newPage({ reducedMotion: 'reduce' })
  const dialog = page.getByRole('dialog')
  await signIn(page)

  await check('the map of the fleet shows zones until they are hidden', async () => {
    await mapIsReady(page, '[data-zones="2"]')
    await page.getByRole('button', { name: 'Hide zones' }).click()
    await page.locator('.map-canvas[data-zones="0"]').waitFor()
    await page.getByRole('button', { name: 'Show zones' }).click()
    await page.locator('.map-canvas[data-zones="2"]').waitFor()
  })

  await check('a polygon is drawn with the mouse, and a corner of it dragged', async () => {
    await openPath(page, '/zones')
    await mapIsReady(page)
    await page.getByRole('link', { name: 'New zone' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Anchorage')
    await page.getByLabel('Colour').fill('#b45309')
    await page.getByRole('button', { name: 'Draw on the map' }).click()
    const box = await page.locator('.map-canvas').boundingBox()
    const at = (x, y) => [box.x + box.width * x, box.y + box.height * y]
    const corners = [at(0.4, 0.4), at(0.6, 0.4), at(0.6, 0.6), at(0.4, 0.6)]
    for (const corner of [...corners, corners[0]]) await page.mouse.click(...corner)
    const lines = async () => (await page.getByLabel('Corners').inputValue()).split('\n')
    await page.getByText('Drag the white points').waitFor()
    const before = await lines()
    expect(before.length === 4, `${before.length} corners`)
    await page.mouse.move(...corners[2])
    await page.mouse.down()
    await page.mouse.move(...at(0.65, 0.65), { steps: 4 })
    await page.mouse.up()
    await page.waitForFunction(
      (line) => !document.querySelector('textarea.input[rows="6"]').value.includes(line),
      before[2],
    )
    const after = await lines()
    const isSame = [0, 1, 3].every((index) => after[index] === before[index])
    expect(after.length === 4 && isSame, `the other corners moved: ${after}`)
    await page.getByRole('button', { name: 'Create the zone' }).click()
    await page.getByRole('link', { name: /Anchorage/ }).waitFor()
    const zone = await findZone('Anchorage')
    expect(zone.color === '#b45309', zone.color)
    expect(zone.shape.coordinates[0].length === 5, JSON.stringify(zone.shape))
  })

  await check('a circle is drawn with the mouse', async () => {
    await page.getByRole('link', { name: 'New zone' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Drawn circle')
    await page.getByText('Circle', { exact: true }).click()
    await page.getByRole('button', { name: 'Draw on the map' }).click()
    const box = await page.locator('.map-canvas').boundingBox()
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5)
    await page.mouse.click(box.x + box.width * 0.55, box.y + box.height * 0.5)
    await page.waitForFunction(() => document.querySelector('.pair input')?.value !== '')
    await page.getByRole('button', { name: 'Create the zone' }).click()
    await page.getByRole('link', { name: /Drawn circle/ }).waitFor()
    const { shape } = await findZone('Drawn circle')
    expect(shape.type === 'Circle' && shape.radius > 1000, JSON.stringify(shape))
  })

  await check('a circle is made by keyboard alone', async () => {
    await openPath(page, '/zones/new')
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT')
    const type = async (words, ...keys) => {
      await page.keyboard.type(words)
      for (const key of keys) await page.keyboard.press(key)
    }
    await type('Harbour', 'Tab', 'Tab', 'Tab', 'ArrowRight', 'Tab')
    await type(String(HARBOUR.latitude), 'Tab')
    await type(String(HARBOUR.longitude), 'Tab')
    await page.keyboard.press('Control+A')
    await type('2000', 'Enter')
    await page.getByRole('link', { name: /Harbour/ }).waitFor()
    const { shape } = await findZone('Harbour')
    expect(shape.center.join() === '-9.5,38.6' && shape.radius === 2000, JSON.stringify(shape))
  })

  await check('what is wrong with a shape is said beside its field', async () => {
    await openPath(page, '/zones/new')
    await page.getByLabel('Name', { exact: true }).fill('Bow tie')
    await page.getByLabel('Corners').fill('38, -9\nnowhere')
    await page.getByRole('button', { name: 'Create the zone' }).click()
    await page.locator('.field-error', { hasText: 'in line 2' }).waitFor()
    await page.getByLabel('Corners').fill('38, -9\n39, -8\n39, -9\n38, -8')
    await page.getByRole('button', { name: 'Create the zone' }).click()
    await page.locator('.field-error', { hasText: 'must not cross or touch itself' }).waitFor()
    await page.getByLabel('Corners').fill('38, -9\n39, -8\n99, -9')
    await page.getByRole('button', { name: 'Create the zone' }).click()
    await page.locator('.field-error', { hasText: 'corner 3 must be between' }).waitFor()
    page.once('dialog', (question) => question.accept())
    await page.getByRole('link', { name: 'Cancel' }).click()
  })

  await check('a zone changes from a circle to a polygon', async () => {
    const { id } = await findZone('Drawn circle')
    await openPath(page, `/zones/${id}`)
    await page.getByLabel('Name', { exact: true }).fill('Typed polygon')
    await page.getByText('Polygon', { exact: true }).click()
    await page.getByLabel('Corners').fill('10, 179\n10, -179\n12, -179')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: /Typed polygon/ }).waitFor()
    expect((await findZone('Typed polygon')).shape.type === 'Polygon', 'still a circle')
  })

  await check('zones are exported, deleted and imported', async () => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    const collection = JSON.parse(readFileSync(await file.path(), 'utf8'))
    const kept = collection.features.filter(({ properties }) => properties.name === 'Typed polygon')
    expect(kept.length === 1, `${collection.features.length} features`)
    await page.getByRole('link', { name: /Typed polygon/ }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the zone' }).click()
    await page.getByText('The zone Typed polygon is deleted.').waitFor()
    await giveFile(page, { type: 'FeatureCollection', features: kept })
    await page.getByText('1 zone imported.').waitFor()
    await page.getByRole('link', { name: /Typed polygon/ }).waitFor()
  })

  await check('a refused import names the feature', async () => {
    const crossed = [
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]
    const feature = {
      type: 'Feature',
      properties: { name: 'Crossed' },
      geometry: { type: 'Polygon', coordinates: [crossed] },
    }
    await giveFile(page, { type: 'FeatureCollection', features: [feature] })
    await page.locator('.refusal', { hasText: 'Feature 1 (Crossed) must not cross' }).waitFor()
    await giveFile(page, 'no GeoJSON')
    await page.locator('.refusal', { hasText: 'This file is not GeoJSON' }).waitFor()
  })

  await check('a rule is made by form, in words, and is switched off at first', async () => {
    await openPath(page, '/rules')
    await page.getByRole('link', { name: 'New rule' }).first().click()
    const sentence = page.locator('.sentence.preview')
    await sentence.getByText('When any device enters a zone, raise').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Night watch')
    await page.getByText('Some devices', { exact: true }).click()
    await page.getByRole('button', { name: 'Create the rule' }).click()
    await page.getByText('Choose at least one device or group.').waitFor()
    await page.locator('.picker-found').getByText('Tern 7').click()
    await page.getByLabel('What to watch for').selectOption('leaves')
    await page.locator('.picker-found').getByText('Harbour', { exact: true }).click()
    await page.getByRole('button', { name: 'Add a time' }).click()
    const words = 'When Tern 7 leaves Harbour between 20:00 and 6:00, raise “Zone left”'
    await sentence.getByText(`${words} and notify users by e-mail, SMS, push`).waitFor()
    await page.getByRole('button', { name: 'Remove time 1' }).click()
    await page.getByLabel('SMS').uncheck()
    await page.getByText('Fine tuning').click()
    await page.getByLabel('Positions that must agree').fill('99')
    await page.getByRole('button', { name: 'Create the rule' }).click()
    await page.locator('.field-error', { hasText: 'must be at most 20' }).waitFor()
    await page.getByLabel('Positions that must agree').fill('1')
    await page.getByRole('button', { name: 'Create the rule' }).click()
    await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor()
    await page.getByText('This rule is switched off').waitFor()
    const rule = await findRule('Night watch')
    expect(!rule.enabled, 'the rule is on before it was tried')
    expect(rule.devices.join() === made.ship, 'the rule is for other devices')
  })

  await check('a rule is tried on history, then switched on', async () => {
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByText('It would have raised 1 alert.').waitFor()
    await mapIsReady(page, '[data-points="1"]')
    const found = page.getByRole('button', { name: /^Left Harbour/ })
    await found.click()
    expect((await found.getAttribute('aria-pressed')) === 'true', 'the alert is not chosen')
    await page.getByText('It is from before the last change').waitFor()
    await found.getByText('Before the last change', { exact: true }).waitFor()
    const { alerts } = await account.call('GET', '/api/alerts')
    expect(alerts.length === 0, 'the trial raised an alert')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('The rule is switched on.').waitFor()
    expect((await findRule('Night watch')).enabled, 'the rule is not on')
  })

  await check('a crossing raises an alert at once, with its rule and zone', async () => {
    await openPath(page, '/alerts')
    await page.locator('.stream-state.live').waitFor()
    await account.report(made.ship, HARBOUR)
    await account.report(made.ship, OUTSIDE)
    const row = page.locator('tr', { hasText: 'Left Harbour.' })
    await row.getByRole('link', { name: 'Night watch' }).waitFor()
    await row.getByRole('link', { name: 'Harbour', exact: true }).waitFor()
    await row.locator('.row-link').click()
    const facts = page.locator('.facts')
    await facts.getByRole('link', { name: 'Harbour', exact: true }).waitFor()
    await facts.getByRole('link', { name: 'Night watch' }).click()
    await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor()
  })

  await check('a change of a rule replaces its condition', async () => {
    const save = async () => {
      await page.getByText('Save the changes first').waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Save the changes first').waitFor({ state: 'detached' })
    }
    await page.getByLabel('What to watch for').selectOption('inside')
    await page.getByLabel('Longer than (minutes)').fill('45')
    await save()
    await page.getByLabel('What to watch for').selectOption('leaves')
    await save()
    const { when } = await findRule('Night watch')
    expect(when.type === 'leaves' && !('minutes' in when), JSON.stringify(when))
  })

  await check('a zone in use is not deleted: the rules are named', async () => {
    await openPath(page, `/zones/${(await findZone('Harbour')).id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the zone' }).click()
    await dialog.getByText('Rules use this zone').waitFor()
    await dialog.getByRole('link', { name: 'Night watch' }).click()
    await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor()
  })

  await check('a rule is switched off in the list, and deleted after a question', async () => {
    await openPath(page, '/rules')
    await page.getByRole('switch', { name: 'Rule Night watch' }).click()
    await page.getByText('The rule is switched off.').waitFor()
    expect(!(await findRule('Night watch')).enabled, 'the rule is still on')
    await page.getByRole('link', { name: 'Night watch' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the rule' }).click()
    await page.getByText('The rule Night watch is deleted.').waitFor()
    expect(!(await findRule('Night watch')), 'the rule is still there')
  })

  await check('trips and stops are listed, and shown on the track', async () => {
    await openPath(page, `/devices/${made.ship}`)
    await page.getByRole('heading', { name: 'Trips and stops' }).scrollIntoViewIfNeeded()
    const panel = page.locator('.card', { hasText: 'Trips and stops' })
    const trip = panel.getByRole('button', { name: /^Show the trip of/ }).first()
    await trip.waitFor()
    await mapIsReady(page, '[data-part="0"]')
    const cells = await panel.locator('tbody tr').first().locator('td').allTextContents()
    expect(/km$/.test(cells[2]) && /min$/.test(cells[3]), cells.join(' | '))
    expect(/km\/h$/.test(cells[4]) && /km\/h$/.test(cells[5]), cells.join(' | '))
    await trip.click()
    await page.locator('.map-canvas:not([data-part="0"])').waitFor()
    await panel.getByText(/^Stops \(/).click()
    await panel
      .getByRole('button', { name: /^Show the stop of/ })
      .first()
      .click()
    await mapIsReady(page, '[data-part="0"][data-points="1"]')
    await panel.getByText(/^Days \(/).click()
    await panel.getByRole('img', { name: /^Distance for each day/ }).waitFor()
  })

  await check('a span of more than 31 days is refused beside its field', async () => {
    const panel = page.locator('.card', { hasText: 'Trips and stops' })
    await panel.getByText('Other', { exact: true }).click()
    await panel.getByLabel('From', { exact: true }).fill('2026-01-01T00:00')
    await panel.locator('.field-error', { hasText: 'at most 31 days' }).waitFor()
    await panel.getByLabel('To', { exact: true }).fill('2026-01-20T00:00')
    await panel.getByText('No positions in this time span.').waitFor()
  })

  await check('hostile names are shown as they are', async () => {
    for (const path of [...made.paths, '/alerts?show=all']) {
      await openPath(page, path)
      await settle(page)
      expect((await page.locator('img[src="x"]').count()) === 0, `an element on ${path}`)
    }
    await openPath(page, '/rules')
    await page.locator('.sentence', { hasText: `When ${EVIL} enters ${EVIL} on Mondays` }).waitFor()
  })

  await check('a user confined to a group is shown neither zones nor rules', async () => {
    const visitor = await newPage()
    await visit.signIn(visitor, {
      account: account.userName,
      email: 'bo@watch.example',
      password: PASSWORD,
    })
    await visitor.getByRole('link', { name: 'Devices' }).first().waitFor()
    expect((await visitor.getByRole('link', { name: 'Zones' }).count()) === 0, 'zones are shown')
    expect((await visitor.getByRole('link', { name: 'Rules' }).count()) === 0, 'rules are shown')
    await visitor.context().close()
  })

  await check('at 375 px no page is wider than the screen', async () => {
    const phone = await newPage({ viewport: { width: 375, height: 740 } })
    await signIn(phone)
    const wide = []
    for (const path of made.paths) {
      await openPath(phone, path)
      await settle(phone)
      const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (overflow > 0) wide.push(`${path}: ${overflow} px`)
    }
    expect(wide.length === 0, wide.join(', '))
    await phone.context().close()
  })

  for (const colorScheme of ['light', 'dark'])
    await check(`axe finds nothing on any page, ${colorScheme}`, async () => {
      const options = { colorScheme, bypassCSP: true, reducedMotion: 'reduce' }
      const visitor = await newPage(options)
      await signIn(visitor)
      const found = []
      for (const path of made.paths) {
        await openPath(visitor, path)
        await settle(visitor)
        found.push(...(await findViolations(visitor, path)))
      }
      await visitor.context().close()
      expect(found.length === 0, found.join('\n'))
    })

  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
  })
} finally {
  await browser.close()
}
report()

async function mapIsReady(page, more = '') {
  await page.locator(`.map-canvas${more} canvas`).waitFor()
  await page.locator('.map-tools').waitFor()
}

async function findZone(name) {
  const { zones } = await account.call('GET', '/api/zones')
  return zones.find((zone) => zone.name === name)
}

async function findRule(name) {
  const { rules } = await account.call('GET', '/api/rules')
  return rules.find((rule) => rule.name === name)
}

function giveFile(page, content) {
  return page.locator('input[type="file"]').setInputFiles({
    name: 'zones.geojson',
    mimeType: 'application/geo+json',
    buffer: Buffer.from(JSON.stringify(content)),
  })
}

/** A stop in the harbour, a way of an hour, and another stop. */
function makeTrack() {
  const start = Date.now() - 180 * MINUTE_MS
  return Array.from({ length: 37 }, (_, at) => {
    const share = Math.min(1, Math.max(0, (at - 6) / 20))
    return {
      dateTime: new Date(start + at * 3 * MINUTE_MS).toISOString(),
      latitude: HARBOUR.latitude + share * 0.2,
      longitude: HARBOUR.longitude - share * 0.3,
      speed: share > 0 && share < 1 ? 34 : 0,
    }
  })
}

async function makeContent() {
  const create = (path, body) => account.call('POST', path, body)
  const ship = await account.addDevice({ name: 'Tern 7' })
  await create(`/api/devices/${ship.id}/locations`, { locations: makeTrack() })
  const evil = await account.addDevice({ name: EVIL }, { latitude: 41.1, longitude: -8.6 })
  const group = await create('/api/groups', { name: EVIL, devices: [evil.id] })
  const person = { country: 'PT', timeZone: 'Europe/Lisbon', password: PASSWORD }
  await create('/api/users', { ...person, name: 'Ana', email: EMAIL, privileges: ['admin'] })
  await create('/api/users', { ...person, name: 'Bo', email: 'bo@watch.example', group: group.id })
  const circle = { type: 'Circle', center: [-8.6, 41.1], radius: 900 }
  const { zone } = await create('/api/zones', { name: EVIL, description: EVIL, shape: circle })
  const ring = [
    [178, -18],
    [-178, -18],
    [-178, -14],
    [178, -14],
    [178, -18],
  ]
  const across = { type: 'MultiPolygon', coordinates: [[ring]] }
  const { zone: box } = await create('/api/zones', { name: 'Across', shape: across })
  const { rule } = await create('/api/rules', {
    name: EVIL,
    text: EVIL,
    devices: [evil.id],
    when: { type: 'enters', zones: [zone.id] },
    schedule: [{ days: ['mon'], from: '08:00', to: '12:00' }],
  })
  return {
    ship: ship.id,
    paths: [
      '/zones',
      '/zones/new',
      `/zones/${zone.id}`,
      `/zones/${box.id}`,
      '/rules',
      '/rules/new',
      `/rules/${rule.id}`,
      `/devices/${ship.id}`,
    ],
  }
}
