// Shows a base map from a PMTiles archive on this machine:
// node test/browser/map/pmtiles.mjs http://localhost:8787
// Needs ADMIN_TOKEN of that service in the environment. The console is built anew with MAP_URL and
// answered by this file; the API is that of the service.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { buildInto } from '../../../scripts/build/build-console.mjs'
import { TestAccount } from '../support/accounts.mjs'
import { base, check, expect, launch, PATIENCE_MS, report, Watch } from '../support/browser.mjs'
import { waitForColours } from '../support/colours.mjs'
import { makeArchive, makePng, makeVectorTile, TILE_TYPES } from '../support/pmtiles.mjs'

/** Of `PALETTES` in console/pages/map/style.ts. */
const LAND = { light: '#f6f5f0', dark: '#1a233f' }
const SEA = { light: '#cfe0f2', dark: '#0c1428' }
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
}

/** Land everywhere, the eastern half under water; a road, a border and a name in the west. */
const vectorTile = makeVectorTile({
  earth: [polygon(0, 0, 4096, 4096)],
  water: [polygon(2048, 0, 4096, 4096)],
  roads: [line([100, 2048], [1900, 2048], { kind: 'highway' })],
  boundaries: [line([1000, 100], [1000, 4000], { kind: 'country' })],
  places: [{ type: 'point', points: [[1400, 1200]], properties: { name: 'Westland' } }],
})
const ARCHIVES = {
  '/vector.pmtiles': makeArchive(TILE_TYPES.mvt, vectorTile, {
    attribution: '<a href="https://example.com">&copy; The mappers</a>',
    vector_layers: ['earth', 'water', 'roads', 'boundaries', 'places'].map((id) => ({ id })),
  }),
  '/raster.pmtiles': makeArchive(TILE_TYPES.png, makePng(256, [200, 30, 60]), {}),
}

const requests = []
const host = createServer(answerRange)
await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve))
const hostOrigin = `http://127.0.0.1:${host.address().port}`
// A page that the test answers comes from no address, which Chromium takes for a public one.
const browser = await launch(['--disable-features=LocalNetworkAccessChecks'])
const account = await TestAccount.open({ licenses: 1 })
try {
  await check('vector tiles of an archive are drawn in our colours, light and dark', () =>
    withMap(`${hostOrigin}/vector.pmtiles`, async (page) => {
      await expectColours(page, { west: LAND.light, east: SEA.light })
      await page.getByText('© The mappers').waitFor()
      await page.emulateMedia({ colorScheme: 'dark' })
      await expectColours(page, { west: LAND.dark, east: SEA.dark })
    }),
  )

  await check('pictures of an archive are drawn as they are', () =>
    withMap(`pmtiles://${hostOrigin}/raster.pmtiles`, (page) =>
      expectColours(page, { west: '#c81e3c', east: '#c81e3c' }),
    ),
  )

  await check('an archive that is not there leaves the devices on a plain map', () =>
    withMap(
      `${hostOrigin}/none.pmtiles`,
      (page) => page.getByText('The base map cannot be loaded.').waitFor(),
      { isMissing: true },
    ),
  )
} finally {
  await browser.close()
  host.close()
}
report()

function polygon(west, north, east, south) {
  const corners = [
    [west, north],
    [east, north],
    [east, south],
    [west, south],
  ]
  return { type: 'polygon', points: corners }
}

function line(from, to, properties) {
  return { type: 'line', points: [from, to], properties }
}

/** Answers ranges alone, as a bucket that browsers may read from everywhere. */
function answerRange(request, response) {
  const archive = ARCHIVES[request.url]
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  requests.push({ url: request.url, range: request.headers.range })
  response.setHeader('Access-Control-Allow-Origin', base)
  response.setHeader('Access-Control-Allow-Headers', 'Range')
  if (request.method === 'OPTIONS') return response.writeHead(204).end()
  if (!archive || !range) return response.writeHead(archive ? 400 : 404).end()
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]), archive.length - 1)]
  response.writeHead(206, { 'Content-Range': `bytes ${from}-${to}/${archive.length}` })
  response.end(archive.subarray(from, to + 1))
}

/** Opens the map of a console that was built for this address, and checks what no map may do. */
async function withMap(mapUrl, body, { isMissing = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-map-'))
  const watch = new Watch()
  requests.length = 0
  try {
    process.env.MAP_URL = mapUrl
    await buildInto(folder)
    const page = await openConsole(folder, watch)
    await body(page)
    await page.context().close()
    const faults = watch.faults.filter((fault) => !(isMissing && fault.includes('404')))
    expect(faults.length === 0, faults.join('\n'))
    const others = watch.foreign.filter((url) => new URL(url).origin !== hostOrigin)
    expect(others.length === 0, `requests to ${others}`)
    expect(requests.length > 0, 'the archive was not asked for')
    const whole = requests.filter(({ range }) => !range)
    expect(whole.length === 0, `asked for without a range: ${JSON.stringify(whole)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openConsole(folder, watch) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await watch.follow(page)
  const headers = headersOf(folder)
  await page.route(`${base}/**`, (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname !== '/' && !pathname.startsWith('/console/')) return route.continue()
    const file = pathname === '/' ? '/index.html' : pathname
    const contentType = TYPES[extname(file)] ?? 'application/octet-stream'
    return route.fulfill({
      body: readFileSync(join(folder, file)),
      headers: { ...headers, 'Content-Type': contentType },
    })
  })
  await page.goto(base)
  await page.getByText('API key', { exact: true }).first().click()
  await page.getByLabel('Account', { exact: true }).fill(account.userName)
  await page.getByLabel('API key', { exact: true }).last().fill(account.apiKey)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('.map-tools').waitFor()
  return page
}

/** The headers of every path, with the policy that admits the map's host. */
function headersOf(folder) {
  const [, lines] = /^\/\*\n((?: {2}.*\n)+)/.exec(readFileSync(join(folder, '_headers'), 'utf8'))
  const pairs = lines
    .trim()
    .split('\n')
    .map((one) => one.trim().split(/: (.*)/))
  const headers = Object.fromEntries(pairs.map(([name, value]) => [name, value]))
  const policy = headers['Content-Security-Policy']
  const hosts = new Set(policy.match(/https?:[^ ;]+/g))
  expect(hosts.size === 1 && hosts.has(hostOrigin), `the policy admits ${[...hosts]}`)
  return headers
}

/** Waits until the map has these colours at two places in the west and in the east. */
async function expectColours(page, { west, east }) {
  const canvas = page.locator('.map-canvas')
  const { width, height } = await canvas.boundingBox()
  const wanted = [
    { at: [width * 0.4, height * 0.3], colour: west },
    { at: [width * 0.65, height * 0.3], colour: east },
  ]
  await waitForColours(browser, canvas, wanted, PATIENCE_MS)
}
