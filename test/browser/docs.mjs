// Opens the reference page in a browser: node test/browser/docs.mjs http://localhost:8787
// With DEMO_USER_NAME and DEMO_API_KEY set it signs in and tries a call that needs a token, too.
import { base, check, expect, launch, PATIENCE_MS, report, Watch } from './support/browser.mjs'

const { DEMO_USER_NAME: userName, DEMO_API_KEY: apiKey } = process.env

const watch = new Watch()

const browser = await launch()
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(PATIENCE_MS)
  await watch.follow(page)
  const api = await (await fetch(`${base}/api/openapi.json`)).json()

  await check('the page comes with a strict content security policy', async () => {
    const { headers } = await fetch(`${base}/docs`)
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of ["default-src 'self'", "script-src 'self';", "connect-src 'self';"])
      expect(policy.includes(part), `no ${part} in "${policy}"`)
    expect(headers.get('x-content-type-options') === 'nosniff', 'no nosniff')
  })

  await check('only the reference page has its policy, and a missing script is a 404', async () => {
    for (const path of ['/docsxyz', '/docs/xyz', '/devices']) {
      const { status, headers } = await fetch(`${base}${path}`)
      const policy = headers.get('content-security-policy') ?? ''
      expect(status === 200 && policy.includes('require-trusted-types-for'), `${path}: ${policy}`)
      expect(headers.has('strict-transport-security'), `no HSTS at ${path}`)
    }
    const missing = await fetch(`${base}/console/nothing.js`)
    expect(missing.status === 404, `a missing script is ${missing.status}`)
    const script = /\/console\/[\w./-]+\.js/.exec(await (await fetch(base)).text())?.[0]
    const { status, headers } = await fetch(`${base}${script}`)
    expect(status === 200, `${script} is ${status}`)
    expect(headers.get('cache-control').includes('immutable'), `${script} is not kept`)
    expect(headers.has('strict-transport-security'), `no HSTS at ${script}`)
  })

  await check('it renders the operations of the document', async () => {
    await page.goto(`${base}/docs`)
    await page.getByRole('heading', { level: 1, name: api.info.title }).waitFor()
    for (const operation of operations(api)) await entry(page, operation)
  })

  await check('a call without a token can be tried', async () => {
    const open = operations(api).find(
      (operation) => isPlainGet(operation) && operation.security?.length === 0,
    )
    await tryCall(page, open ?? operations(api).find(isPlainGet), open ? 200 : 401)
  })

  if (userName && apiKey) {
    await check('after a sign-in a call carries the token', async () => {
      await page.locator('#sign-in').click()
      await page.locator('[name=userName]').fill(userName)
      await page.locator('[name=apiKey]').fill(apiKey)
      await page.locator('dialog button.primary').click()
      await page.locator('#sign-in.signed-in').waitFor()
      const guarded = operations(api).find(
        (operation) => isPlainGet(operation) && usesTheToken(api, operation),
      )
      await tryCall(page, guarded, 200)
    })
  }

  await check('the introduction has the address of this service', async () => {
    const shown = await page.locator('#reference').textContent()
    expect(shown.includes(`${base}/api/Auth/Token`), 'no address in the example call')
    expect(!shown.includes('your-host'), 'a made-up host is shown')
  })

  await check('a report is shown before a query, and its reply before the others', async () => {
    const operation = operations(api).find(({ operationId }) => operationId === 'postLocations')
    await (await entry(page, operation)).click()
    const section = page.locator(`section[id$="/POST${operation.path}"]`)
    const statuses = section.getByText(/^(20[01])( .*)?$/)
    await statuses.first().waitFor()
    const first = (await statuses.allInnerTexts())[0]
    expect(first.startsWith('201'), `the first reply is ${first}`)
  })

  if (userName && apiKey) {
    await check('a device of the account is filled in', async () => {
      const reading = operations(api).find(({ operationId }) => operationId === 'readDevice')
      await tryCall(page, reading, 200)
    })

    await check('at phone width nothing covers the account name', async () => {
      await page.setViewportSize({ width: 375, height: 812 })
      await page.evaluate(() => scrollTo(0, 0))
      const covering = await page.locator('#sign-in').evaluate((button) => {
        button.textContent = 'a-user-name-that-is-as-long-as-a-user-name-may-be-in-this-service'
        const brand = document.querySelector('.brand').getBoundingClientRect()
        if (brand.right > button.parentElement.getBoundingClientRect().left) return 'the brand'
        const { left, right, top, bottom } = button.getBoundingClientRect()
        if (left < 0 || right > innerWidth) return 'the edge of the screen'
        const y = (top + bottom) / 2
        for (let x = left + 2; x < right - 2; x += 2) {
          const there = document.elementFromPoint(x, y)
          if (there !== button) return there?.outerHTML.slice(0, 120) ?? 'nothing'
        }
        return ''
      })
      expect(covering === '', `covered by ${covering}`)
    })
  }

  await check('it loads in the dark and on a phone', async () => {
    const phone = await browser.newPage({
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    })
    phone.setDefaultTimeout(PATIENCE_MS)
    await watch.follow(phone)
    await phone.goto(`${base}/docs`)
    await phone.getByRole('heading', { level: 1, name: api.info.title }).waitFor()
    // The system asks for dark.
    await phone.waitForFunction(() => document.body.classList.contains('dark-mode'))
    const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow <= 0, `the page is ${overflow} px wider than the phone`)
    await phone.close()
  })

  await check('no request went to another origin', () => {
    expect(watch.requests.length > 3, 'no requests were seen at all')
    expect(watch.foreign.length === 0, watch.foreign.join(', '))
  })

  await check('no error reached the console and no policy was violated', () =>
    expect(watch.faults.length === 0, watch.faults.join('; ')),
  )
} finally {
  await browser.close()
}
report()

function operations({ paths }) {
  const methods = ['get', 'put', 'post', 'patch', 'delete']
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] ? { ...item[method], path, method } : [])),
  )
}

function isPlainGet({ path, method, parameters = [] }) {
  return (
    method === 'get' && !path.includes('{') && !parameters.some((parameter) => parameter.required)
  )
}

function usesTheToken(api, operation) {
  const schemes = (security) => JSON.stringify(security.map(Object.keys))
  return !operation.security || schemes(operation.security) === schemes(api.security)
}

/** The operation's entry in the sidebar; its group is opened if need be. */
async function entry(page, { path, method, tags }) {
  const group = page.getByRole('button', { name: `Open Group - ${tags[0]}`, exact: true })
  if (await group.isVisible()) await group.click()
  const found = page.locator(`[data-sidebar-id$="/${method.toUpperCase()}${path}"] a`)
  await found.waitFor()
  return found
}

async function tryCall(page, operation, status) {
  const { path, method } = operation
  await (await entry(page, operation)).click()
  const section = page.locator(`section[id$="/${method.toUpperCase()}${path}"]`)
  await section.getByRole('button', { name: /Try it/ }).click()
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[a-z]+_[0-9a-z]+')}$`)
  const [answer] = await Promise.all([
    page.waitForResponse((response) => pattern.test(new URL(response.url()).pathname)),
    page.getByRole('button', { name: /^Send/ }).first().click(),
  ])
  expect(answer.status() === status, `${path} answered ${answer.status()}, not ${status}`)
  await answer.finished()
  await page.getByText(`${status} ${answer.statusText()}`.trim()).first().waitFor()
  await page.keyboard.press('Escape')
}
