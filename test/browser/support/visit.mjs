import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { base, PATIENCE_MS } from './browser.mjs'

/* What a visitor of the console does on every page. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

async function open(browser, watch, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    // Tests cannot intercept the requests of a page that has one.
    serviceWorkers: 'block',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await watch.follow(page)
  return page
}

async function signIn(page, { account, email, password }) {
  await page.goto(base)
  await page.getByLabel('Account', { exact: true }).fill(account)
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('.shell').waitFor()
}

/** Goes to an address as a link does, without loading the page anew. */
export async function openPath(page, path) {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

/** Types into a field as soon as it is there, before the page is painted; `act` opens it. */
export async function typeAtOnce(page, selector, { value, act }) {
  const typed = await page.evaluateHandle(
    ([wanted, text]) => {
      const done = new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          const field = document.querySelector(wanted)
          if (!field) return
          observer.disconnect()
          field.value = text
          field.dispatchEvent(new Event('input', { bubbles: true }))
          resolve()
        }).observe(document.body, { childList: true, subtree: true })
      })
      return { done }
    },
    [selector, value],
  )
  await act()
  await typed.evaluate(({ done }) => done)
}

/** Waits until what the page loads is there. */
export async function settle(page) {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.waitForFunction(() => !document.querySelector('.skeleton, .state .spinner'))
  await page.waitForTimeout(300)
}

/** Needs a page with `bypassCSP`: axe is a script of the test, which the page's policy refuses. */
export async function findViolations(page, name) {
  // A dialog that is fading in has less contrast.
  await page.evaluate(async () => {
    const running = document
      .getAnimations()
      .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    await Promise.allSettled(running.map(({ finished }) => finished))
  })
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: 'tag', values } }),
    AXE_TAGS,
  )
  return violations.map(
    ({ id, nodes }) =>
      `${name}: ${id}: ${nodes
        .slice(0, 2)
        .map(({ html }) => html.slice(0, 120))
        .join(' and ')}`,
  )
}

export async function pressUntil(page, key, isWanted) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press(key)
    if (await page.evaluate(`(${isWanted})(document.activeElement)`)) return
  }
  throw new Error('The keyboard does not get there.')
}

/** A browser of its own with one page, and the way past the sign-in. */
export const visit = { open, signIn }
