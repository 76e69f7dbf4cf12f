import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    silent: 'passed-only',
    projects: [
      { test: { name: 'domain', include: ['test/domain/**/*.test.ts'], environment: 'node' } },
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], environment: 'node' } },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              compatibilityFlags: ['service_binding_extra_handlers'],
              // A second cell, to prove that an account's rows are in its own alone.
              d1Databases: ['CELL_1'],
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations('migrations'),
                ...(process.env.MODEL_SEED && { MODEL_SEED: process.env.MODEL_SEED }),
                TOKEN_SECRET: 'a-secret-of-the-tests-and-of-nothing-else',
                TOKEN_SECRET_PREVIOUS: 'the-secret-that-was-in-use-before-this-one',
                ADMIN_TOKEN: 'the-operator-of-the-tests',
              },
            },
          })),
        ],
        test: { name: 'worker', testTimeout: 60_000, include: ['test/worker/**/*.test.ts'], setupFiles: ['test/worker/setup.ts'] },
      },
    ],
  },
})
