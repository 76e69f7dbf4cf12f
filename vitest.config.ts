import { createServer } from 'node:net'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { bundledWorker } from './test/support/run/bundledWorker.ts'
import { RESEND_KEY, TWILIO_SID, TWILIO_TOKEN } from './test/support/run/providers.ts'
import { answerOutboundRequest } from './test/support/run/receivers.ts'

const SECRETS = {
  TOKEN_SECRET: 'a-secret-of-the-tests-and-of-nothing-else',
  ADMIN_TOKEN: 'the-operator-of-the-tests-and-of-nothing-else',
}
// Wrangler warns about required secrets that it finds neither in .dev.vars nor in the environment,
// and says for each test file where it looked.
Object.assign(process.env, SECRETS)
process.env.WRANGLER_LOG ??= 'warn'

const findFreePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
// Bindings are fixed before the test providers listen, so their port is chosen here.
process.env.PROVIDERS_PORT ??= String(await findFreePort())
const PROVIDERS = `http://127.0.0.1:${process.env.PROVIDERS_PORT}`

/** `npm run test:watch` */
const isWatching = process.argv.includes('watch')
const migrations = await readD1Migrations('migrations')

const workerOptions = (bindings: Record<string, string> = {}, options: object = {}) => ({
  wrangler: { configPath: './wrangler.toml' },
  miniflare: {
    compatibilityFlags: ['service_binding_extra_handlers'],
    // A second cell, to prove that an account's rows are only in its own.
    d1Databases: ['CELL_1'],
    bindings: {
      TEST_MIGRATIONS: migrations,
      ...(process.env.MODEL_SEED && { MODEL_SEED: process.env.MODEL_SEED }),
      ...SECRETS,
      TOKEN_SECRET_PREVIOUS: 'the-secret-that-was-in-use-before-this-one',
      ...bindings,
    },
    ...options,
  },
})

/** The longest files. Begun last, one of them would run alone at the end. */
const SLOWEST = [
  'worker/everyRoute',
  'ledger/modelOverHttp',
  'ledger/model',
  'notify/messageSender',
]

class SlowestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = SLOWEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return index === -1 ? SLOWEST.length : index
    }
    return (await super.sort(specifications)).sort((a, b) => rank(a) - rank(b))
  }
}

/** Tests without state: the files of a project share their process and its modules. */
const nodeTests = {
  environment: 'node',
  pool: 'threads' as const,
  isolate: false,
  testTimeout: 120_000,
  setupFiles: ['test/support/run/seed.ts'],
}

const workerTests = {
  testTimeout: 120_000,
  setupFiles: ['test/support/run/setup.ts'],
  // Bundled packages are 17 modules, not 400.
  deps: {
    optimizer: {
      ssr: {
        enabled: true,
        include: [
          '@cloudflare/workers-oauth-provider',
          '@hono/zod-validator',
          '@modelcontextprotocol/server',
          'drizzle-orm',
          'drizzle-orm/d1',
          'drizzle-orm/sqlite-core',
          'fast-check',
          'hono',
          'hono/route',
          'hono/utils/accept',
          'jose',
          'saxes',
          'zod',
          'zod-openapi',
        ],
      },
    },
  },
}

export default defineConfig({
  test: {
    silent: 'passed-only',
    // A file's Worker has one thread and often waits, so a machine with two cores is busy with
    // three.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      { test: { name: 'domain', include: ['test/domain/**/*.test.ts'], ...nodeTests } },
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], ...nodeTests } },
      {
        plugins: [
          !isWatching && bundledWorker(),
          cloudflareTest(() =>
            workerOptions(
              {
                PUBLIC_URL: 'https://perigee.test',
                // Tests send many more sign-ins and wrong tokens than people do.
                SIGN_INS_PER_ADDRESS: '100000',
                TOKEN_FAILURES_PER_ADDRESS: '100000',
              },
              { outboundService: answerOutboundRequest as never },
            ),
          ),
        ],
        test: { name: 'worker', include: ['test/worker/**/*.test.ts'], ...workerTests },
      },
      {
        plugins: [
          !isWatching && bundledWorker(),
          cloudflareTest(() =>
            workerOptions(
              {
                EMAIL_PROVIDER: 'resend',
                SMS_PROVIDER: 'twilio',
                VOICE_PROVIDER: 'twilio',
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
                // The push service of the tests is on this machine.
                ALLOW_LOOPBACK_WEBHOOKS: 'true',
                // Longer than a busy machine takes to answer; tests of timeouts wait for it.
                SEND_TIMEOUT_MS: '3000',
              },
              { email: { send_email: [{ name: 'EMAIL' }] } },
            ),
          ),
        ],
        test: {
          name: 'notify',
          include: ['test/notify/**/*.test.ts'],
          globalSetup: ['test/support/run/providers.ts'],
          ...workerTests,
        },
      },
    ],
  },
})
