import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { unstable_getMiniflareWorkerOptions as getWorkerOptions } from 'wrangler'
import { listBuckets } from '../../../scripts/buckets.mjs'
import { findSharedDatabase } from '../../../scripts/migrations/migrate-local.mjs'
import { listDatabases, listUnread, localVariables } from '../../../scripts/wrangler.mjs'

const CONFIG = readFileSync('wrangler.toml', 'utf8')
const folders: string[] = []
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-local-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

describe('further cells', () => {
  /** The block of docs/operations.md, as it would be copied for two cells. */
  const block = (
    readFileSync('docs/operations.md', 'utf8').match(
      /^ *\[\[d1_databases\]\]\n(?: +\w+ = .*\n)+/m,
    )?.[0] ?? ''
  ).replaceAll(/^ +/gm, '')
  const cells = [block, block.replaceAll(/cell-1|CELL_1/g, (name) => name.replace('1', '2'))]

  test('as the documentation has them are databases of their own on this machine', () => {
    const config = `${CONFIG}\n${cells.join('\n')}`
    const file = join(makeFolder(), 'wrangler.toml')
    writeFileSync(file, config)
    const { workerOptions } = getWorkerOptions(file)
    const ids = Object.values(workerOptions.d1Databases ?? {}).map((database) =>
      typeof database === 'string' ? database : database.id,
    )
    expect(ids).toEqual(['perigee', 'perigee-cell-1', 'perigee-cell-2'])
    expect(listDatabases(config).map((one: { localId: string }) => one.localId)).toEqual(ids)
    expect(findSharedDatabase(listDatabases(config))).toBeUndefined()
  })

  test('without an id of their own are refused, by name', () => {
    const shared = cells.map((cell) => cell.replace(/^preview_database_id.*\n/m, ''))
    const fault = findSharedDatabase(listDatabases(`${CONFIG}\n${shared.join('\n')}`))
    expect(fault).toContain('CELL_1 and CELL_2')
    expect(fault).toContain('of CELL_2 the line\n\n  preview_database_id = "perigee-cell-2"')
  })
})

test('the bucket of old months is found, or left out', () => {
  expect(listBuckets(CONFIG)).toEqual([{ name: 'perigee-history', jurisdiction: undefined }])
  const eu = CONFIG.replace('"perigee-history"', '"history"\njurisdiction = "eu"')
  expect(listBuckets(eu)).toEqual([{ name: 'history', jurisdiction: 'eu' }])
  expect(listBuckets(CONFIG.replace('[[r2_buckets]]', '[[others]]'))).toEqual([])
})

test('names of .dev.vars that wrangler ignores are found', () => {
  const names = [
    'TOKEN_SECRET',
    'EMAIL_PROVIDER',
    'DEMO_API_KEY',
    'PUBLIC_URL',
    'TWILIO_AUTH_TOKEN',
  ]
  expect(listUnread(names)).toEqual(['TWILIO_AUTH_TOKEN'])
  const required = CONFIG.replace('"ADMIN_TOKEN"]', '"ADMIN_TOKEN", "TWILIO_AUTH_TOKEN"]')
  expect(listUnread(names, required)).toEqual([])
})

test('only a local service allows webhooks to this machine', () => {
  expect(CONFIG).toMatch(/^ALLOW_LOOPBACK_WEBHOOKS = "false"$/m)
  expect(localVariables('http://localhost:8787', {})).toEqual([
    '--var',
    'PUBLIC_URL:http://localhost:8787',
    '--var',
    'ALLOW_LOOPBACK_WEBHOOKS:true',
  ])
  const secrets = { ALLOW_LOOPBACK_WEBHOOKS: 'false', PUBLIC_URL: 'https://tunnel.example' }
  expect(localVariables('http://localhost:8787', secrets)).toEqual([
    '--var',
    'PUBLIC_URL:https://tunnel.example',
    '--var',
    'ALLOW_LOOPBACK_WEBHOOKS:false',
  ])
})

/** The imports of a script that are followed before it runs: neither packages nor TypeScript. */
const foreignImports = (script: string, seen = new Set<string>()): string[] => {
  if (seen.has(script)) return []
  seen.add(script)
  const imports = readFileSync(script, 'utf8').matchAll(
    /^(?:import|export)\s+(?:[\w*{}\s,]+?\s+from\s+)?'([^']+)'/gm,
  )
  return [...imports].flatMap(([, name = '']) => {
    if (name.startsWith('node:')) return []
    if (name.startsWith('.') && name.endsWith('.mjs'))
      return foreignImports(join(script, '..', name), seen)
    return [`${script}: ${name}`]
  })
}

describe('the installation', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const entries = Object.values<string>(scripts).flatMap((command) =>
    [...command.matchAll(/\bnode (\S+\.mjs)/g)].map(([, file = '']) => file),
  )
  const runBefore = [...new Set(entries), 'test/browser/run.mjs', 'test/clients/run.mjs'].filter(
    (file) => /\bawait useToolchain\(\)|harness\/serve/.test(readFileSync(file, 'utf8')),
  )

  test('comes before anything that needs it: on a machine with Node 20 alone', () => {
    expect(runBefore).toEqual(expect.arrayContaining(['scripts/start.mjs', 'scripts/test.mjs']))
    expect(runBefore.length).toBeGreaterThan(8)
    expect(runBefore.flatMap((file) => foreignImports(file))).toEqual([])
  })

  /** Runs it with an npm that unpacks one of two packages and then does what `rest` says. */
  const install = (rest: string) => {
    const folder = makeFolder()
    for (const file of ['toolchain.mjs', 'child.mjs'])
      cpSync(join('scripts', file), join(folder, 'scripts', file))
    const packages = {
      '': {},
      'node_modules/a': { version: '1' },
      'node_modules/b': { version: '1' },
    }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
    mkdirSync(join(folder, 'tools'))
    const npm = join(folder, 'tools', 'npm')
    writeFileSync(
      npm,
      `#!/bin/sh\nmkdir -p node_modules/a\necho {} > node_modules/a/package.json\n${rest}\n`,
    )
    chmodSync(npm, 0o755)
    const script = "import('./scripts/toolchain.mjs').then((m) => m.useToolchain())"
    const env = { ...process.env, PATH: `${join(folder, 'tools')}:${process.env.PATH}` }
    return spawnSync(process.execPath, ['-e', script], { cwd: folder, env, encoding: 'utf8' })
  }

  test('prints how far it is, without a terminal too', () => {
    const { status, stdout } = install('sleep 6')
    expect(status).toBe(0)
    expect(stdout).toContain('Installing the 2 packages')
    expect(stdout).toMatch(/^ {2}1 of 2 packages after \d+ s$/m)
    expect(stdout).toMatch(/^Installed after \d+ s\.$/m)
  })

  test('that fails shows what npm says', () => {
    const { status, stdout, stderr } = install('echo no network >&2; exit 1')
    expect(status).toBe(1)
    expect(stderr).toContain('no network\n\nnpm install failed.')
    expect(stdout).not.toContain('Installed')
  })
})
