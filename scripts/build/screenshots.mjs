// Takes the pictures of the README from a running `npm start`: node scripts/build/screenshots.mjs
import { mkdirSync } from 'node:fs'
import { launch } from '../../test/browser/support/browser.mjs'
import { readSecrets } from '../secrets.mjs'
import { fail, useToolchain } from '../toolchain.mjs'

const folder = 'docs/images'
const MAP_TIMEOUT_MS = 60_000
const SETTLE_MS = 2500

await useToolchain()
const base = process.argv[2] ?? `http://localhost:${process.env.PORT || 8787}`
const { DEMO_USER_NAME: userName, DEMO_API_KEY: apiKey } = readSecrets('.dev.vars')
if (!apiKey) fail('Run npm start first; it makes the demo account.')

const browser = await launch()
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  })
  await page.goto(base)
  await page.getByText('API key', { exact: true }).first().click()
  await page.getByLabel('Account', { exact: true }).fill(userName)
  await page.getByLabel('API key', { exact: true }).last().fill(apiKey)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  mkdirSync(folder, { recursive: true })
  await page.locator('.map-tools').waitFor({ timeout: MAP_TIMEOUT_MS })
  await take(page, 'map')
  await page.locator('.fleet-row').nth(1).click()
  await page.getByRole('link', { name: 'Track' }).click()
  await page.locator('.chart').first().waitFor()
  await take(page, 'track')
  await page.getByRole('link', { name: 'Devices', exact: true }).click()
  await page.locator('.row-link').first().click()
  await page.locator('.facts').waitFor()
  await take(page, 'device')
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.locator('h1', { hasText: 'Settings' }).waitFor()
  await take(page, 'settings')
} finally {
  await browser.close()
}

async function take(page, name) {
  await page.waitForTimeout(SETTLE_MS)
  const path = `${folder}/${name}.jpg`
  await page.screenshot({ path, type: 'jpeg', quality: 82 })
  console.log(path)
}
