// Opens the link of a message in a browser without scripts, at the width of a phone, and
// acknowledges the alert: node test/browser/link.mjs http://localhost:8787
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'

const base = (process.argv[2] ?? process.env.BASE_URL ?? 'http://localhost:8787').replace(/\/$/, '')
const {
  DEMO_USER_NAME: userName,
  DEMO_API_KEY: apiKey,
  CHROMIUM = '/usr/bin/chromium',
} = process.env
const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'
const LONGEST_NAME = 'Averyveryverylongnameofaboatwithoutanyspaces'.repeat(2)
const MESSAGE_TIMEOUT_MS = 30_000

let passed = 0
let failed = 0
const faults = []
const requests = []

let token
token = (await send('POST', '/api/Auth/Token', { userName, apiKey })).token
const { alertId, url } = await raiseAlert()

const browser = await chromium.launch({ executablePath: CHROMIUM, args: flags.split(' ') })
try {
  for (const colorScheme of ['light', 'dark'])
    await check(`the page fits a phone of 375 px, ${colorScheme}`, async () => {
      const page = await openPage(colorScheme)
      await page.goto(url)
      await page.getByRole('heading', { level: 1, name: /SOSButton/ }).waitFor()
      const { scrollWidth, background, size } = await measure(page)
      expect(scrollWidth <= 375, `the page is ${scrollWidth} px wide`)
      expect(size.height >= 44 && size.width >= 44, `the button has ${size.width}×${size.height}`)
      expect(
        background < 128 === (colorScheme === 'dark'),
        `the background has the brightness ${background}`,
      )
      for (const text of ['Place', '38.72230, -9.13930', 'Nobody yet'])
        await page.getByText(text).first().waitFor()
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
    await page.getByText(/^Ana Lopes, /).waitFor()
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
} catch (fault) {
  failed += 1
  console.error(`not ok  ${firstLine(fault)}`)
} finally {
  await browser.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed ? 1 : 0

async function openPage(colorScheme) {
  const context = await browser.newContext({
    viewport: { width: 375, height: 812 },
    colorScheme,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
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
  const deadline = Date.now() + MESSAGE_TIMEOUT_MS
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

async function check(name, body) {
  try {
    await body()
    passed += 1
    console.log(`ok      ${name}`)
  } catch (fault) {
    failed += 1
    console.error(`not ok  ${name}: ${firstLine(fault)}`)
  }
}

function expect(truth, otherwise) {
  if (!truth) throw new Error(otherwise)
}

function firstLine(fault) {
  return String(fault.message ?? fault).split('\n', 1)[0]
}
