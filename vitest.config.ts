import { createServer } from 'node:net'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { RESEND_KEY, TWILIO_SID, TWILIO_TOKEN } from './test/delivery/providers.ts'
import { receive } from './test/receivers.ts'

/** Where the providers of the tests will listen: known before they do, because bindings are. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
process.env.PROVIDERS_PORT ??= String(await freePort())
const PROVIDERS = `http://127.0.0.1:${process.env.PROVIDERS_PORT}`

/** In the environment too, where wrangler looks for the secrets that wrangler.toml requires. */
const SECRETS = {
  TOKEN_SECRET: 'a-secret-of-the-tests-and-of-nothing-else',
  ADMIN_TOKEN: 'the-operator-of-the-tests',
}
Object.assign(process.env, SECRETS)

const worker = async (bindings: Record<string, string> = {}, more: object = {}) => ({
  wrangler: { configPath: './wrangler.toml' },
  miniflare: {
    compatibilityFlags: ['service_binding_extra_handlers'],
    // A second cell, to prove that an account's rows are in its own alone.
    d1Databases: ['CELL_1'],
    bindings: {
      TEST_MIGRATIONS: await readD1Migrations('migrations'),
      ...(process.env.MODEL_SEED && { MODEL_SEED: process.env.MODEL_SEED }),
      ...SECRETS,
      TOKEN_SECRET_PREVIOUS: 'the-secret-that-was-in-use-before-this-one',
      ...bindings,
    },
    ...more,
  },
})

/** A starved timer fails once; what is broken fails twice. The mutants get no second try. */
const RETRY = process.argv.includes('--retry') ? 0 : 1

export default defineConfig({
  test: {
    silent: 'passed-only',
    // Two files at a time: a file's Worker has one thread, and the smallest machine has two cores.
    maxWorkers: 2,
    projects: [
      { test: { name: 'domain', include: ['test/domain/**/*.test.ts'], environment: 'node' } },
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], environment: 'node' } },
      {
        plugins: [cloudflareTest(() => worker({}, { outboundService: receive as never }))],
        test: {
          name: 'worker',
          retry: RETRY,
          testTimeout: 60_000,
          include: ['test/worker/**/*.test.ts'],
          setupFiles: ['test/worker/setup.ts'],
        },
      },
      {
        plugins: [
          cloudflareTest(() =>
            worker(
              {
                EMAIL_PROVIDER: 'resend',
                SMS_PROVIDER: 'twilio',
                EMAIL_FROM: 'Perigee <alerts@perigee.test>',
                RESEND_URL: PROVIDERS,
                RESEND_API_KEY: RESEND_KEY,
                RESEND_WEBHOOK_SECRET: `whsec_${btoa('the-webhook-secret-of-the-tests')}`,
                TWILIO_URL: PROVIDERS,
                TWILIO_ACCOUNT_SID: TWILIO_SID,
                TWILIO_AUTH_TOKEN: TWILIO_TOKEN,
                TWILIO_FROM: '+15005550006',
                PUBLIC_URL: 'https://perigee.test',
                PROVIDERS,
                SEND_TIMEOUT_MS: '500',
              },
              { email: { send_email: [{ name: 'EMAIL' }] } },
            ),
          ),
        ],
        test: {
          name: 'delivery',
          retry: RETRY,
          testTimeout: 60_000,
          include: ['test/delivery/**/*.test.ts'],
          setupFiles: ['test/worker/setup.ts'],
          globalSetup: ['test/delivery/providers.ts'],
        },
      },
    ],
  },
})
