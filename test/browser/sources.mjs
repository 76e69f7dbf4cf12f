// Sources, quarantine and commands in a browser, with pushes to the addresses that it shows.
// Needs ADMIN_TOKEN of the service at BASE_URL.
import { execFileSync } from 'node:child_process'
import { TestAccount } from './support/accounts.mjs'
import { base, check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, settle, visit } from './support/visit.mjs'

const EVIL = '<img src=x onerror=alert(1)>'
const PASSWORD = 'a long sentence for the browser tests'
const ADMIN = 'ana@sources.example'
const READER = 'ron@sources.example'
const TERN = '300434060000011'
const MINUTE_MS = 60_000
/** The device that the curl line of a Garmin source invents. */
const INVENTED = '100000000000001'

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 4 })
const newPage = (options) => visit.open(browser, watch, options)
const signIn = (page, email = ADMIN) =>
  visit.signIn(page, { account: account.userName, email, password: PASSWORD })

try {
  const made = await makeContent()
  const page = await newPage()
  const dialog = page.getByRole('dialog')
  await signIn(page)
  const { tern, gull } = made
  let url = ''

  await check('a source shows its address once, with a command that works', async () => {
    await page.getByRole('link', { name: 'Sources', exact: true }).click()
    await page.getByRole('link', { name: 'New source' }).first().click()
    await page.getByRole('button', { name: 'Create the source' }).click()
    await page.locator('.field-error', { hasText: 'Name' }).waitFor()
    await page.getByLabel('Network or program').selectOption({ label: 'SPOT' })
    await page.getByText('Ask SPOT for an XML push').waitFor()
    await page.getByLabel('Network or program').selectOption({ label: 'Garmin inReach' })
    await page.getByLabel('Name', { exact: true }).fill('inReach fleet')
    await page.getByLabel(/^API key of Garmin/).fill('never shown again')
    await page.getByRole('button', { name: 'Create the source' }).click()
    await dialog.locator('pre').nth(1).waitFor()
    const [address, command] = await dialog.locator('pre').allTextContents()
    url = address
    expect(url.startsWith(`${base}/in/src_`), url)
    execFileSync('sh', ['-c', `${command} --fail --silent`])
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { level: 1, name: 'inReach fleet' }).waitFor()
    await rowOf(page, INVENTED).waitFor()
    await page.locator('.facts').getByText('just now').waitFor()
    expect(!(await page.content()).includes(url), 'the address is shown again')
    made.sourcePath = new URL(page.url()).pathname
  })

  await check('an unclaimed identifier becomes a device with what waited', async () => {
    await page.locator('.places-map .map-tools').waitFor()
    await rowOf(page, INVENTED).getByRole('button', { name: 'Assign' }).click()
    await dialog.getByLabel('Name of the device').fill(`Kite ${EVIL}`)
    await dialog.getByRole('button', { name: 'Create the device' }).click()
    await page.getByText(`2 reports are with Kite ${EVIL} now.`).waitFor()
    await rowOf(page, INVENTED).waitFor({ state: 'detached' })
    const { devices } = await account.call('GET', '/api/devices?q=Kite')
    expect(devices[0]?.identifier === INVENTED, 'the device has another identifier')
    expect(devices[0].lastLocation?.latitude === 43.8, 'the position was not moved')
    made.kite = devices[0].id
  })

  await check('without a license it goes to a device that is there', async () => {
    await push(url, [event('300434060000099', 5), event(EVIL, 4)])
    await page.getByRole('button', { name: 'Load again' }).click()
    await rowOf(page, '300434060000099').getByRole('button', { name: 'Assign' }).click()
    await dialog.getByLabel('Name of the device').fill('Too many')
    await dialog.getByRole('button', { name: 'Create the device' }).click()
    await dialog.getByText('4 of 4 licenses are in use.').waitFor()
    await dialog.getByText('A device you have').click()
    await dialog.getByLabel('Gull 2').check()
    await dialog.getByText('Gull 2 has the identifier OLD-1, which this one replaces.').waitFor()
    await dialog.getByRole('button', { name: 'Assign to this device' }).click()
    await page.getByText('1 report is with Gull 2 now.').waitFor()
    const { device } = await account.call('GET', `/api/devices/${gull}`)
    expect(device.identifier === '300434060000099', device.identifier)
  })

  await check('an identifier with a slash is claimed, another is deleted', async () => {
    const { source, url: address } = await account.call('POST', '/api/sources', {
      name: EVIL,
      provider: 'owntracks',
    })
    made.evilPath = `/sources/${source.id}`
    for (const name of ['ann/phone', `bob/${EVIL}`]) {
      const [user, device] = [name.slice(0, 3), name.slice(4)]
      const headers = { 'X-Limit-U': user, 'X-Limit-D': device }
      const tst = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ _type: 'location', lat: 48.85, lon: 2.29, tst })
      await send(address, body, headers)
    }
    await openPath(page, made.evilPath)
    await rowOf(page, 'ann/phone').getByRole('button', { name: 'Assign' }).click()
    await dialog.getByText('A device you have').click()
    await dialog.getByLabel('Gull 2').check()
    await dialog.getByRole('button', { name: 'Assign to this device' }).click()
    await rowOf(page, 'ann/phone').waitFor({ state: 'detached' })
    await openPath(page, made.sourcePath)
    await rowOf(page, EVIL).getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the reports' }).click()
    await page.getByText('Nothing waits here').waitFor()
  })

  await check('reports that are still being moved are followed to the end', async () => {
    await push(url, [event('300434060000055', 3)])
    await page.getByRole('button', { name: 'Load again' }).click()
    await rowOf(page, '300434060000055').getByRole('button', { name: 'Assign' }).click()
    await dialog.getByText('A device you have').click()
    await dialog.getByLabel('Old 5').check()
    await dialog.getByRole('button', { name: 'Assign to this device' }).click()
    await page.getByText('1 report of 300434060000055 is still being moved to').waitFor()
    await page.getByText('they wait until it is reactivated').waitFor()
    await expire(made.spare)
    await account.call('POST', `/api/devices/${made.old}/reactivate`, { expirationDate: null })
    // Sooner than the service does it by itself.
    await account.call('POST', `/api${made.sourcePath}/unclaimed/300434060000055/claim`, {
      deviceId: made.old,
    })
    await page.getByText('All reports of 300434060000055 are moved.').waitFor()
  })

  await check('failed payloads are shown as text or bytes, and replayed', async () => {
    await openPath(page, `${made.sourcePath}/edit`)
    await page.getByLabel('Keep all payloads for 7 days').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.facts').getByText('Yes', { exact: true }).waitFor()
    await send(url, `{"Events":[{"imei":"${EVIL}`)
    await send(url, new Uint8Array([0, 1, 2, 0xfe, 0xff]))
    await push(url, [event(TERN, 3)])
    await page.getByRole('button', { name: 'Load again' }).click()
    const failed = page.getByRole('table', { name: /^Payloads/ }).locator('tbody tr')
    await failed.nth(1).waitFor()
    await failed.nth(1).getByRole('button', { name: 'Show' }).click()
    await dialog.getByText(EVIL).waitFor()
    await dialog.getByRole('button', { name: 'Decode it now' }).click()
    await dialog.getByText('Not understood').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await failed.nth(0).getByRole('button', { name: 'Show' }).click()
    await dialog.getByText('00 01 02 fe ff').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByText('1 payload was understood, 2 still are not.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
  })

  await check('every example of a payload is understood', async () => {
    await openPath(page, '/sources/decode')
    const provider = page.getByLabel('Network or program')
    for (const value of await provider.locator('option').evaluateAll(valuesOf)) {
      await provider.selectOption(value)
      await page.getByRole('button', { name: 'Fill in an example' }).click()
      // What is shown may still be that of the example before.
      const [reply] = await Promise.all([
        page.waitForResponse(/\/decode$/),
        page.getByRole('button', { name: 'Decode' }).click(),
      ])
      expect(reply.ok(), `${value} is answered with ${reply.status()}`)
      await reply.finished()
      await page.locator('.decoded .badge', { hasText: 'Position' }).waitFor()
      expect((await page.locator('.refusal').count()) === 0, `${value} is not understood`)
    }
    await page.getByLabel(/^Body/).fill('{')
    await page.getByRole('button', { name: 'Decode' }).click()
    await page.getByText('Not understood').waitFor()
  })

  await check('a payload is decoded with the unit of speed that is chosen', async () => {
    await openPath(page, '/sources/decode')
    await page.getByLabel('Network or program').selectOption('osmand')
    await page.getByRole('button', { name: 'Fill in an example' }).click()
    await page.getByLabel('Query').fill('id=ann&lat=60&lon=5&speed=10')
    for (const [unit, shown] of [
      ['kn', '18.5 km/h'],
      ['m/s', '36 km/h'],
    ]) {
      await page.getByLabel('Unit of speed').selectOption(unit)
      await page.getByRole('button', { name: 'Decode' }).click()
      await page.locator('.decoded', { hasText: shown }).waitFor()
    }
  })

  await check('positions in quarantine are accepted and discarded', async () => {
    // The accepted ones are of this minute; these are far away and from the future.
    await push(url, [event(TERN, 10, [10, 10]), event(TERN, -3 * 24 * 60, [51, 1])])
    await openPath(page, `/devices/${tern}`)
    await page.getByText('Too far away').waitFor()
    await page.getByText('Its clock is wrong').waitFor()
    await page.locator('.quarantined li', { hasText: 'Too far' }).getByRole('checkbox').check()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Release' }).click()
    await page.getByText('1 position is in the track now.').waitFor()
    await page.getByText('Too far away').waitFor({ state: 'detached' })
    const { locations } = await account.call('GET', `/api/devices/${tern}/locations`)
    expect(
      locations.some(({ latitude }) => latitude === 10),
      'it is not in the track',
    )
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Discard' }).click()
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('No position of this device is in quarantine.').waitFor()
  })

  await check('the maximum speed is set in the form of the device', async () => {
    await openPath(page, `/devices/${tern}/edit`)
    await page.getByLabel('Maximum speed (km/h)').fill('0')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.facts').getByText('Not checked').waitFor()
  })

  await check('a command is refused with the reason, and goes by SMS instead', async () => {
    await page.getByLabel('Text', { exact: true }).fill('Call base.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('This device takes no commands by its network.').waitFor()
    await page.getByRole('button', { name: 'Send it by SMS' }).click()
    await page.getByText('1 SMS segment.').waitFor()
    await page.getByText('To +881632000011.').waitFor()
    const entry = page.locator('.entry', { hasText: 'Call base.' })
    await entry.getByText('Accepted by the network').waitFor()
    await page.getByLabel('Text', { exact: true }).fill('x'.repeat(460))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('An SMS may take at most 3 segments.').waitFor()
  })

  await check('an SMS beyond the limit, or without a number, is not sent and says so', async () => {
    const change = (body) => account.call('PATCH', `/api/devices/${tern}`, body)
    await change({ limits: { dailySmsLimit: 1 } })
    await page.getByLabel('Text', { exact: true }).fill('Call again.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('The device has reached its daily limit').waitFor()
    await change({ limits: { dailySmsLimit: 50 } })
    // As for a number from before numbers were checked.
    const body = JSON.stringify({ success: false, code: 'no-command-channel', detail: 'Refused.' })
    const contentType = 'application/problem+json'
    const refuse = (route) => route.fulfill({ status: 409, contentType, body })
    await page.route('**/sendCommand', refuse)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('It was not sent: the phone number').waitFor()
    await page.unroute('**/sendCommand', refuse)
    const { commands } = await account.call('GET', `/api/devices/${tern}/commands`)
    expect(!commands.some(({ command }) => command === 'Call again.'), 'it is stored')
  })

  await check('the message of a command leads to its device and to no alert', async () => {
    await openPath(page, `/messages?device=${tern}&channel=SMS`)
    const row = page.locator('tr', { hasText: 'Call base.' })
    await row.getByRole('link', { name: 'Tern 7' }).waitFor()
    expect((await row.getByRole('link', { name: 'The alert' }).count()) === 0, 'there is a link')
    await openPath(page, `/devices/${tern}`)
  })

  await check('a message written on the device appears by itself', async () => {
    await page.locator('.stream-state.live').waitFor()
    const more = { messageCode: 3, freeText: `On my way ${EVIL}` }
    await push(url, [{ ...event(TERN, 0), ...more }])
    const entry = page.locator('.entry.received', { hasText: `On my way ${EVIL}` })
    await entry.getByText('From the device').waitFor()
  })

  await check('an administrator sees and changes the source that takes commands', async () => {
    const { source } = await account.call('POST', '/api/sources', {
      name: 'Second fleet',
      provider: 'garmin',
    })
    await openPath(page, '/devices')
    await openPath(page, `/devices/${tern}`)
    const channel = page.locator('.command-channel')
    await channel.getByRole('link', { name: 'inReach fleet' }).waitFor()
    await channel.getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel('Source', { exact: true }).selectOption({ label: 'Second fleet' })
    await dialog.getByRole('button', { name: 'Use this source' }).click()
    await channel.getByRole('link', { name: 'Second fleet' }).waitFor()
    const stored = await account.call('GET', `/api/devices/${tern}/commandChannel`)
    expect(stored.sourceId === source.id, stored.sourceId)
    await account.call('DELETE', `/api/sources/${source.id}`)
  })

  await check('the log of an emergency names the source that raised it', async () => {
    await push(url, [{ ...event(TERN, 0), messageCode: 4 }])
    await page
      .getByRole('region', { name: 'Emergencies' })
      .getByText(/Tern 7/)
      .waitFor()
    const { alerts } = await account.call('GET', '/api/alerts?state=open')
    await openPath(page, `/alerts/${alerts[0].id}`)
    await page.locator('.log-entry.raised', { hasText: 'inReach fleet' }).waitFor()
    await account.call('POST', `/api/alerts/${alerts[0].id}/resolve`, {})
  })

  await check('who may only look reads the conversation and has no sources', async () => {
    const reader = await newPage()
    await signIn(reader, READER)
    await openPath(reader, `/devices/${tern}`)
    await reader.locator('.entry', { hasText: 'Call base.' }).waitFor()
    await reader.getByText('you need the permission Command').waitFor()
    expect((await reader.getByRole('link', { name: 'Sources' }).count()) === 0, 'there is a link')
    await reader.context().close()
  })

  const paths = [
    '/sources',
    '/sources/new',
    '/sources/decode',
    made.sourcePath,
    made.evilPath,
    `${made.evilPath}/edit`,
    `/devices/${tern}`,
    `/devices/${made.kite}`,
  ]
  // Something for the panels to show.
  await push(url, [event('300434060000077', 2), event(INVENTED, -3 * 24 * 60, [0.1, 0.1])])

  await check('no name, identifier or message is shown as HTML', async () => {
    for (const path of paths) {
      await openPath(page, path)
      await settle(page)
      expect((await page.locator('img[src="x"]').count()) === 0, `${path} makes an element`)
    }
  })

  await check('at 375 px no page is wider than the screen', async () => {
    const phone = await newPage({ viewport: { width: 375, height: 720 } })
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
    await check(`axe finds nothing on these pages and dialogs, ${colorScheme}`, () =>
      runAxe(colorScheme, paths, made),
    )

  await check('a source is disabled, gets a new address, and is deleted by its name', async () => {
    await openPath(page, made.sourcePath)
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled', { exact: true }).waitFor()
    expect((await push(url, [event(TERN, 0)])) === 404, 'a disabled source takes pushes')
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('Enabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'New address' }).click()
    await dialog.getByRole('button', { name: 'New address' }).click()
    const fresh = await dialog.locator('pre').first().textContent()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    expect((await push(url, [event(TERN, 0)])) === 404, 'the old address takes pushes')
    expect((await push(fresh, [event(TERN, 0)])) === 200, 'the new address takes none')
    await page.getByRole('button', { name: 'Delete' }).first().click()
    await dialog.getByLabel(/^Type/).fill('inReach fleet')
    await dialog.getByRole('button', { name: 'Delete the source' }).click()
    await page.getByText('inReach fleet is deleted.').waitFor()
  })

  await check('no request to another host, no error, no violation of the policy', () => {
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
    expect(watch.faults.length === 0, watch.faults.join('; '))
  })
} finally {
  await browser.close()
}
report()

function rowOf(page, identifier) {
  return page.locator('tr', { has: page.locator('code', { hasText: identifier }) })
}

function valuesOf(options) {
  return options.map(({ value }) => value)
}

/** An event of a Garmin push, so many minutes ago. */
function event(imei, minutesAgo, [latitude, longitude] = [51, 1]) {
  return {
    imei,
    messageCode: 0,
    timeStamp: Date.now() - minutesAgo * MINUTE_MS,
    point: { latitude, longitude, altitude: 0, gpsFix: 2, course: 0, speed: 0 },
  }
}

function push(address, events) {
  return send(address, JSON.stringify({ Version: '2.0', Events: events }))
}

async function send(address, body, headers = {}) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  })
  return response.status
}

async function makeContent() {
  const person = { country: 'PT', timeZone: 'Europe/Lisbon', password: PASSWORD }
  const user = (name, email, privileges) =>
    account.call('POST', '/api/users', { ...person, name, email, privileges })
  await user('Ana', ADMIN, ['admin'])
  await user('Ron', READER, ['read'])
  const tern = await account.addDevice({ name: 'Tern 7', identifier: TERN, min: '+881632000011' })
  const gull = await account.addDevice({ name: 'Gull 2', identifier: 'OLD-1' })
  const old = await account.addDevice({ name: 'Old 5' })
  await expire(old.id)
  const spare = await account.addDevice({ name: 'Spare 9' })
  return { tern: tern.id, gull: gull.id, old: old.id, spare: spare.id }
}

function expire(deviceId) {
  const expirationDate = new Date().toISOString().slice(0, 10)
  return account.call('PATCH', `/api/devices/${deviceId}`, {
    limits: { expires: true, expirationDate },
  })
}

async function runAxe(colorScheme, paths, { sourcePath }) {
  const page = await newPage({ colorScheme, bypassCSP: true, reducedMotion: 'reduce' })
  await signIn(page)
  const found = []
  for (const path of paths) {
    await openPath(page, path)
    await settle(page)
    found.push(...(await findViolations(page, path)))
  }
  await openPath(page, sourcePath)
  for (const name of ['Assign', 'Show', 'Replay', 'New address']) {
    await page.getByRole('button', { name }).first().click()
    await page.getByRole('dialog').waitFor()
    await settle(page)
    found.push(...(await findViolations(page, name)))
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.context().close()
  expect(found.length === 0, found.join('\n'))
}
