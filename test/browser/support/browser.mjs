import { chromium } from 'playwright-core'

const { CHROMIUM = '/usr/bin/chromium' } = process.env
/** The map needs WebGL, which Chromium draws in software here. */
const FLAGS =
  '--headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

export const base = (process.argv[2] ?? process.env.BASE_URL ?? 'http://localhost:8787').replace(
  /\/$/,
  '',
)

/** How long a page may take for one step; a busy machine needs several times its usual time. */
export const PATIENCE_MS = 60_000

/** Without a locale Chromium saves files whose names have letters beyond ASCII as `download`. */
const env = { ...process.env, LC_ALL: 'C.UTF-8' }

export const launch = (flags = []) =>
  chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS.split(' '), ...flags], env })

let passed = 0
let failed = 0

/** With ONLY in the environment, only checks whose name contains it run. */
export async function check(name, body) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return
  try {
    await body()
    passed += 1
    console.log(`ok      ${name}`)
  } catch (fault) {
    failed += 1
    console.error(`not ok  ${name}: ${firstLines(fault)}`)
  }
}

export function expect(truth, otherwise) {
  if (!truth) throw new Error(otherwise)
}

export function report() {
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed ? 1 : 0
}

function firstLines(fault) {
  return String(fault.message ?? fault)
    .split('\n')
    .slice(0, 40)
    .join('\n        ')
}

/** Collects what must not happen on any page: errors, violations and requests to other hosts. */
export class Watch {
  faults = []
  requests = []

  async follow(page) {
    page.on('request', (request) => this.requests.push(request.url()))
    page.on('websocket', (socket) => this.requests.push(socket.url().replace(/^ws/, 'http')))
    page.on('pageerror', (fault) => this.faults.push(fault.message))
    page.on('console', (message) => {
      // The browser reports refusals that the API answers; these are no faults of the page.
      const isRefusal =
        /status of 4\d\d/.test(message.text()) &&
        /^\/(api|admin)\//.test(new URL(message.location().url || base).pathname)
      const isCutByTest = message.text().includes('ERR_INTERNET_DISCONNECTED')
      if (message.type() === 'error' && !isRefusal && !isCutByTest) this.faults.push(message.text())
    })
    await page.exposeFunction('reportViolation', (what) => this.faults.push(what))
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', (e) =>
        window.reportViolation(`${e.violatedDirective} blocked ${e.blockedURI} (${e.sample})`),
      )
    })
  }

  get foreign() {
    return this.requests.filter(
      (url) => !/^(data|blob):/.test(url) && new URL(url).origin !== new URL(base).origin,
    )
  }
}
