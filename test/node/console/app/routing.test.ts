import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unstable_readConfig as readConfig } from 'wrangler'
import { app } from '../../../../src/app.ts'

const { assets } = readConfig({ config: 'wrangler.toml' })
const patterns = assets?.run_worker_first as string[]

const isWorkerFirst = (path: string): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
  )

const workerPaths = [...new Set(app.routes.map(({ path }) => path))]
  .filter((path) => !path.startsWith('/*') && path !== '*' && path !== '/')
  .map((path) => path.replaceAll(/:(\w+)/g, 'x'))

describe('paths that are no assets', () => {
  test('show the console', () => {
    expect(assets?.not_found_handling).toBe('single-page-application')
  })

  test.each(workerPaths)('%s is answered by the Worker', (path) => {
    expect(isWorkerFirst(path)).toBe(true)
  })

  test('the Worker is asked for files of the console, which may be missing', () => {
    expect(isWorkerFirst('/console/nothing.js')).toBe(true)
  })

  test('no page of the console has an address of the Worker', () => {
    const source = readFileSync('console/app/routes.ts', 'utf8')
    const pages = [...source.matchAll(/'(\/[\w/:-]*)'/g)].map(([, path = '']) => path)
    expect(pages).toContain('/devices/:deviceId')
    expect(pages.filter(isWorkerFirst)).toEqual([])
  })
})
