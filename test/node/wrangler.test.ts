import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { unstable_readConfig as readConfig } from 'wrangler'

const config = readConfig({ config: 'wrangler.toml' })

test('calls of receivers in the Worker’s own zone do not bypass Cloudflare', () => {
  expect(config.compatibility_flags).toContain('global_fetch_strictly_public')
})

test('pending work keeps a Durable Object in memory: the compatibility date is 2026-10-01 or later', () => {
  const date = config.compatibility_date ?? ''
  expect(date >= '2026-10-01').toBe(true)
  expect(config.compatibility_flags).not.toContain(
    'durable_object_io_tasks_do_not_prevent_eviction',
  )
  expect(readConfig({ config: 'lab/bench/bare.toml' }).compatibility_date).toBe(date)
})

test('the only runtime, on every platform, is the one that wrangler brings', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const runtimes = Object.entries<{ version: string }>(packages).filter(([path]) =>
    /node_modules\/(@cloudflare\/)?workerd(-[^/]+)?$/.test(path),
  )
  const { workerd } = packages['node_modules/wrangler'].dependencies
  expect(runtimes.map(([, { version }]) => version)).toEqual(Array(6).fill(workerd))
  const released = workerd.match(/^1\.(\d{8})\./)?.[1]
  expect(released >= (config.compatibility_date ?? '').replaceAll('-', '')).toBe(true)
})
