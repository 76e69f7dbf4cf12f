// Tests the emergency chain from a device's page, on a phone and on a desktop.
// Needs ADMIN_TOKEN of the service at BASE_URL.
import { TestAccount } from './support/accounts.mjs'
import { check, expect, launch, report, Watch } from './support/browser.mjs'
import { findViolations, openPath, visit } from './support/visit.mjs'

const PASSWORD = 'a long sentence for the browser tests'
const EMAIL = 'ana@drill.example'
const SIZES = [
  { width: 375, height: 812 },
  { width: 1440, height: 900 },
]

const watch = new Watch()
const browser = await launch()
const account = await TestAccount.open({ licenses: 5 })

try {
  await account.call('POST', '/api/users', {
    name: 'Ana',
    email: EMAIL,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    password: PASSWORD,
    privileges: ['admin'],
  })
  await account.call('PATCH', '/api/account', {
    emergencyContacts: [{ name: 'Coast guard', email: 'guard@drill.example' }],
  })
  const { device } = await account.call('POST', '/api/devices', { name: 'Tern 7' })

  for (const viewport of SIZES) {
    const at = `at ${viewport.width} px`
    const page = await visit.open(browser, watch, { viewport, bypassCSP: true })
    await visit.signIn(page, { account: account.userName, email: EMAIL, password: PASSWORD })
    const dialog = page.getByRole('dialog')
    const shoot = async (name) => {
      const path = `${process.env.SHOTS}/${name}-${viewport.width}.png`
      if (process.env.SHOTS) await page.screenshot({ path })
    }

    await check(`the console says who gets the messages of a test, ${at}`, async () => {
      await openPath(page, `/devices/${device.id}`)
      await page.getByRole('button', { name: 'Test the emergency chain' }).click()
      await dialog.getByText('begin with TEST').waitFor()
      await dialog.locator('li', { hasText: 'Ana' }).getByText('E-mail').waitFor()
      await dialog.locator('li', { hasText: 'Coast guard' }).waitFor()
      await shoot('drill-dialog')
      const violations = await findViolations(page, `drill dialog ${at}`)
      expect((violations ?? []).length === 0, JSON.stringify(violations))
      const { account: before } = await account.call('GET', '/api/account')
      expect(viewport.width > 375 || before.lastDrillAt === null, 'a test was run unasked')
    })

    await check(`a test is run, and the bar shows it as a test, ${at}`, async () => {
      await dialog.getByRole('button', { name: 'Send the test' }).click()
      await page.waitForURL(/\/alerts\/alr_/)
      const bar = page.getByRole('region', { name: 'Emergencies' })
      await bar.getByText(/^Test: SOS button from /).waitFor()
      await shoot('drill-alert')
      const { alert } = await account.call('GET', `/api/alerts/${page.url().split('/').pop()}`)
      expect(alert.test && alert.emergency, 'the alert is no test')
      await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    })

    await check(`the settings say when the last test was, and whom it reached, ${at}`, async () => {
      await openPath(page, '/settings/emergencies')
      await page.getByText('Last test:').waitFor()
      // A message is sent within a moment; the card is loaded again until it is.
      for (let tries = 0; tries < 20; tries++) {
        if (await page.getByText(/^Reached 1 of 1/).isVisible()) break
        await page.waitForTimeout(500)
        await openPath(page, '/devices')
        await openPath(page, '/settings/emergencies')
        await page.getByText(/^Reached \d of \d/).waitFor()
      }
      await page.getByText('Reached 1 of 1').waitFor()
      await page
        .locator('.deliveries li', { hasText: 'Ana' })
        .getByText(/^after \d+ s$/)
        .waitFor()
      await page.getByText('Reached 1 of 1').scrollIntoViewIfNeeded()
      await shoot('drill-settings')
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(width <= viewport.width, `the page is ${width} px wide`)
    })
    await page.context().close()
  }
} finally {
  await browser.close()
}
report()
