import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

/** Records its calls and knows databases, buckets and Workers, as far as a deploy asks for them. */
const STAND_IN = `#!/usr/bin/env node
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync('calls.txt', args.join(' ') + '\\n')
const state = existsSync('state.json') ? JSON.parse(readFileSync('state.json')) : { databases: [], buckets: [], workers: [] }
const save = () => writeFileSync('state.json', JSON.stringify(state))
const worker = args.includes('--config') ? args[args.indexOf('--config') + 1] : 'wrangler.toml'
const [first, second, third] = args
if (first === 'whoami') console.log(JSON.stringify({ accounts: [{ id: 'a', name: 'A' }] }))
else if (first === 'd1' && second === 'list') console.log(JSON.stringify(state.databases))
else if (first === 'd1' && second === 'create') {
  state.databases.push({ name: third, uuid: 'id-of-' + third })
  save()
} else if (first === 'r2') {
  const name = args[3]
  if (third === 'info') process.exit(state.buckets.includes(name) ? 0 : 1)
  state.buckets.push(name)
  save()
} else if (first === 'secret') {
  if (state.workers.includes(worker)) console.log('[{"name":"TOKEN_SECRET"},{"name":"ADMIN_TOKEN"}]')
  else { console.error('Worker "x" not found'); process.exit(1) }
} else if (first === 'deploy') {
  state.workers.push(worker)
  save()
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'deploy', targets: ['https://x.example'] }))
}
`

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** A copy of what a deploy needs, with a stand-in of wrangler. */
const makeProject = () => {
  const folder = mkdtempSync(join(tmpdir(), 'perigee-deploy-test-'))
  folders.push(folder)
  for (const name of ['scripts', 'wrangler.toml', 'src/env.ts', 'src/domain', 'package.json'])
    cpSync(name, join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  const file = join(folder, 'node_modules/.bin/wrangler')
  writeFileSync(file, STAND_IN.replaceAll('#!/usr/bin/env node', `#!${process.execPath}`))
  chmodSync(file, 0o755)
  writeFileSync(join(folder, 'node_modules/.bin/package.json'), '{"type":"commonjs"}')
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    folder,
    read,
    has: (name: string) => existsSync(join(folder, name)),
    calls: () => read('calls.txt').trim().split('\n'),
    deploy: (args: string[] = [], env: Record<string, string> = {}) => {
      const { CI: _, ...outside } = process.env
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(folder, 'scripts/deploy.mjs'), ...args],
        { encoding: 'utf8', env: { ...outside, ...env } },
      )
      return { status, output: `${stdout}${stderr}` }
    },
  }
}

test('the first deploy creates database, bucket and secrets, and the next one nothing', () => {
  const project = makeProject()
  const first = project.deploy()
  expect(first.output).toContain('Perigee is at https://x.example')
  expect(first.status).toBe(0)
  expect(project.calls()).toContain('d1 create perigee')
  expect(project.read('wrangler.toml')).toContain('database_id = "id-of-perigee"')
  expect(project.read('.deploy.vars')).toMatch(/^ADMIN_TOKEN=.{40,}$/m)
  const [before, config] = [project.calls().length, project.read('wrangler.toml')]
  expect(project.deploy().status).toBe(0)
  const second = project.calls().slice(before)
  expect(second.some((one) => / create /.test(one))).toBe(false)
  // The schema before the code.
  const [migrated, deployed] = ['d1 migrations apply DB --remote', 'deploy']
  expect(second.indexOf(migrated)).toBeLessThan(second.lastIndexOf(deployed))
  expect(second).toContain(migrated)
  expect(project.read('wrangler.toml')).toBe(config)
})

test('staging is a Worker of its own, made from wrangler.toml at each deploy', () => {
  const project = makeProject()
  const production = project
    .read('wrangler.toml')
    .replace('EMAIL_PROVIDER = "outbox"', 'EMAIL_PROVIDER = "resend"')
    .replace('[vars]', '[vars]\nPUBLIC_URL = "https://perigee.example.com"')
  writeFileSync(join(project.folder, 'wrangler.toml'), production)
  expect(project.deploy(['--env', 'staging'])).toMatchObject({ status: 0 })
  const own = project.read('wrangler.staging.toml')
  expect(own).toMatch(/^name = "perigee-staging"$/m)
  expect(own).toMatch(/^database_name = "perigee-staging"\ndatabase_id = "id-of-perigee-staging"$/m)
  expect(own).toMatch(/^EMAIL_PROVIDER = "outbox"/m)
  expect(own).not.toMatch(/^PUBLIC_URL/m)
  for (const id of ['1001', '1002']) expect(own).not.toContain(`namespace_id = "${id}"`)
  expect(project.read('wrangler.toml')).toBe(production)
  const touching = project.calls().filter((one) => /^(deploy|secret|d1 migrations)/.test(one))
  for (const one of touching) expect(one).toContain('--config wrangler.staging.toml')
  expect(project.has('.deploy.staging.vars')).toBe(true)
  // A change of wrangler.toml reaches staging, and its own database stays.
  writeFileSync(
    join(project.folder, 'wrangler.toml'),
    production.replace('TOKEN_TTL_SECONDS = "3600"', 'TOKEN_TTL_SECONDS = "600"'),
  )
  expect(project.deploy(['--env', 'staging'])).toMatchObject({ status: 0 })
  expect(project.read('wrangler.staging.toml')).toContain('TOKEN_TTL_SECONDS = "600"')
  expect(project.read('wrangler.staging.toml')).toContain('"id-of-perigee-staging"')
})

test('a jurisdiction is chosen before the first deploy, and refused later', () => {
  const project = makeProject()
  expect(project.deploy(['--jurisdiction', 'eu'])).toMatchObject({ status: 0 })
  expect(project.calls()).toContain('d1 create perigee --jurisdiction eu')
  expect(project.calls()).toContain('r2 bucket create perigee-history --jurisdiction eu')
  expect(project.read('wrangler.toml')).toMatch(/^JURISDICTION = "eu"$/m)
  expect(project.read('wrangler.toml')).toMatch(/^bucket_name = .*\njurisdiction = "eu"$/m)
  expect(project.deploy()).toMatchObject({ status: 0 })
  expect(project.deploy(['--jurisdiction', 'eu'])).toMatchObject({ status: 0 })
  const other = project.deploy(['--jurisdiction', 'fedramp'])
  expect(other.status).toBe(1)
  expect(other.output).toContain('was created with --jurisdiction eu')
  const without = makeProject()
  expect(without.deploy().status).toBe(0)
  const late = without.deploy(['--jurisdiction', 'eu'])
  expect(late.status).toBe(1)
  expect(late.output).toContain('without a jurisdiction, and its databases and objects cannot move')
  expect(without.read('wrangler.toml')).not.toMatch(/^JURISDICTION/m)
})

test('a database of that name is not adopted unless the operator says so', () => {
  const project = makeProject()
  const databases = [{ name: 'perigee', uuid: 'somebody-elses' }]
  const state = { databases, buckets: [], workers: [] }
  writeFileSync(join(project.folder, 'state.json'), JSON.stringify(state))
  const refused = project.deploy()
  expect(refused.status).toBe(1)
  expect(refused.output).toContain('has a database named perigee already')
  expect(project.calls().some((one) => one.includes('migrations'))).toBe(false)
  expect(project.deploy(['--adopt'])).toMatchObject({ status: 0 })
  expect(project.read('wrangler.toml')).toContain('database_id = "somebody-elses"')
})

test('CI deploys what exists, and creates no database whose id would be lost', () => {
  const project = makeProject()
  const refused = project.deploy([], { CI: 'true' })
  expect(refused.status).toBe(1)
  expect(refused.output).toContain('Make the first deploy on your own machine')
  expect(project.deploy()).toMatchObject({ status: 0 })
  expect(project.deploy([], { CI: 'true' })).toMatchObject({ status: 0 })
})

test('a domain is written with the address of links, and wrong options are named', () => {
  const project = makeProject()
  expect(project.deploy(['--domain', 'sat.example.com'])).toMatchObject({ status: 0 })
  const config = project.read('wrangler.toml')
  expect(config).toContain('routes = [{ pattern = "sat.example.com", custom_domain = true }]')
  expect(config).toMatch(/^PUBLIC_URL = "https:\/\/sat\.example\.com"$/m)
  for (const [args, sentence] of [
    [['--region', 'eu'], '--region is not an option'],
    [['--jurisdiction', 'mars'], '--jurisdiction must be one of eu'],
    [['--env', 'Stage 1'], '--env must be'],
    [['--domain', 'https://x'], '--domain must be a host name'],
  ] as const) {
    const { status, output } = project.deploy([...args])
    expect([status, output]).toEqual([1, expect.stringContaining(sentence)])
  }
})
