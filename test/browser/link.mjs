// Opens the link of a message in a browser without scripts, at the widths of a phone and a desktop,
// and acknowledges the alert: node test/browser/link.mjs http://localhost:8787
import { setTimeout as sleep } from 'node:timers/promises'
import { base, check, expect, launch, PATIENCE_MS, report } from './support/browser.mjs'

const { DEMO_USER_NAME: userName, DEMO_API_KEY: apiKey } = process.env
const LONGEST_NAME = 'Averyveryverylongnameofaboatwithoutanyspaces'.repeat(2)

const faults = []
const requests = []

let token
token = (await send('POST', '/api/Auth/Token', { userName, apiKey })).token
const { alertId, url } = await raiseAlert()

const browser = await launch()
try {
  for (const [width, colorScheme] of [
    [375, 'light'],
    [375, 'dark'],
    [1440, 'light'],
  ])
    await check(`the page fits ${width} px, ${colorScheme}`, async () => {
      const page = await openPage(colorScheme, width)
      await page.goto(url)
      await page.getByRole('heading', { level: 1, name: /SOS button/ }).waitFor()
      const { scrollWidth, background, size } = await measure(page)
      expect(scrollWidth <= width, `the page is ${scrollWidth} px wide`)
      expect(size.height >= 44 && size.width >= 44, `the button has ${size.width}×${size.height}`)
      expect(
        background < 128 === (colorScheme === 'dark'),
        `the background has the brightness ${background}`,
      )
      for (const text of ['Newest position', '38.60000, -9.40000', 'First position', 'Nobody has'])
        await page.getByText(text).first().waitFor()
      await page.getByText('38.72230, -9.13930').waitFor()
      const map = await page.getByRole('img', { name: 'Map of the area' }).boundingBox()
      expect(map.width >= 280 && map.width <= width, `the map is ${map.width} px wide`)
      expect((await page.locator('svg circle').count()) === 2, 'the map has not two places')
      const links = await page.getByRole('link').all()
      const targets = await Promise.all(links.map((link) => link.getAttribute('href')))
      expect(targets.includes('geo:38.60000,-9.40000'), targets.join(' '))
      if (process.env.SHOTS)
        await page.screenshot({
          path: `${process.env.SHOTS}/link-${width}-${colorScheme}.png`,
          fullPage: true,
        })
      await page.context().close()
    })

  await check('looking at the page acknowledges nothing', async () => {
    for (const method of ['GET', 'HEAD']) await fetch(url, { method })
    expect(!(await readAlert()).acknowledged, 'it is acknowledged')
  })

  await check('the button acknowledges, without a script', async () => {
    const page = await openPage('light')
    await page.goto(url)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText(/Acknowledged by Ana Lopes, /).waitFor()
    expect((await page.getByRole('button').count()) === 0, 'the button is still there')
    expect((await readAlert()).acknowledged, 'the alert is not acknowledged')
    await page.context().close()
  })

  await check('a link that is not valid shows a page too', async () => {
    const page = await openPage('light')
    const response = await page.goto(`${base}/a/00aaaaaaaaaaaaaa`)
    expect(response.status() === 404, `it answered ${response.status()}`)
    await page.getByRole('heading', { name: 'This link is not valid' }).waitFor()
    await page.context().close()
  })

  await check('nothing comes from another origin, and no policy was violated', () => {
    const foreign = requests.filter((one) => new URL(one).origin !== new URL(base).origin)
    expect(requests.length > 3, 'no requests were seen at all')
    expect(foreign.length === 0, foreign.join(', '))
    expect(faults.length === 0, faults.join('; '))
  })
} finally {
  await browser.close()
}
report()

async function openPage(colorScheme, width = 375) {
  const context = await browser.newContext({
    viewport: { width, height: 812 },
    colorScheme,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => {
    // The browser reports the 404 that is asked for.
    const isAsked = message.text().includes('status of 404')
    if (message.type() === 'error' && !isAsked) faults.push(message.text())
  })
  return page
}

/** Measured from outside: scripts of the page are off. */
async function measure(page) {
  const client = await page.context().newCDPSession(page)
  const { cssContentSize } = await client.send('Page.getLayoutMetrics')
  const size = await page.getByRole('button', { name: 'Acknowledge' }).boundingBox()
  await client.send('DOM.enable')
  await client.send('CSS.enable')
  const { root } = await client.send('DOM.getDocument')
  const { nodeId } = await client.send('DOM.querySelector', {
    nodeId: root.nodeId,
    selector: 'body',
  })
  const { computedStyle } = await client.send('CSS.getComputedStyleForNode', { nodeId })
  const colour = computedStyle.find(({ name }) => name === 'background-color').value
  const [red, green, blue] = colour.match(/\d+/g).map(Number)
  return { scrollWidth: cssContentSize.width, size, background: (red + green + blue) / 3 }
}

/** An alert of a device with a long name, and the link that a user was sent. */
async function raiseAlert() {
  const email = `ana-${Date.now()}@example.com`
  await send('POST', '/api/users', {
    name: 'Ana Lopes',
    email,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
  })
  const { device } = await send('POST', '/api/devices', { name: LONGEST_NAME })
  const { alert } = await send('POST', `/api/devices/${device.id}/alerts`, {
    alertName: 'SOSButton',
    text: 'Man overboard',
    latitude: 38.7223,
    longitude: -9.1393,
  })
  await send('POST', `/api/devices/${device.id}/locations`, {
    dateTime: new Date(Date.now() + 60_000).toISOString(),
    latitude: 38.6,
    longitude: -9.4,
  })
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const { messages } = await send('GET', `/api/account/messages?alertId=${alert.id}`)
    const text = messages.find(({ to }) => to === email)?.text ?? ''
    const path = text.match(/\/a\/[0-9a-z]{16}/)?.[0]
    if (path) return { alertId: alert.id, url: `${base}${path}` }
    await sleep(250)
  }
  throw new Error('no message with a link')
}

async function readAlert() {
  return (await send('GET', `/api/alerts/${alertId}`)).alert
}

async function send(method, path, body) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  })
  const reply = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${reply.error}`)
  return reply
}
