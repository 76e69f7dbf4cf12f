// npm run mutants [-- --part]
// Breaks the ledger and the feed on purpose, in one place at a time, and checks that the tests fail.
// Each mutant runs in a copy of the tree. The run fails if a mutant passes the tests, or if the text
// that it replaces is not found. With `--part` it runs those of files that have changed since the
// previous release, and a third of the others, another third after each commit.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findPreviousRelease, PREVIOUS_RELEASE } from '../upgrade/previousRelease.mjs'
import { MUTANTS } from './list.mjs'

const root = resolve(import.meta.dirname, '../..')
const COPIED = [
  'src',
  'test',
  'migrations',
  'public',
  'scripts',
  'lab',
  'docs',
  'collections',
  'wrangler.toml',
  'vitest.config.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

const replace = (text, { from, to }, name) => {
  if (!text.includes(from))
    throw new Error(`${name}: the text to replace is not found; update lab/mutants/list.mjs`)
  return text.replace(from, to)
}

/** A run of one mutant's tests takes seconds; one that takes longer hangs. */
const RUN_TIMEOUT_MS = 300_000
/** The line of a failed test, as the verbose reporter prints it: its file. */
const FAILED_TEST = /^ *[×✗] .*?([^/ ]+\.test\.ts)/m

/** The project of vitest.config.ts that a test file belongs to. The others need not start. */
const projectOf = (test) => /^(?:domain|node|notify)(?=\/)/.exec(test)?.[0] ?? 'worker'

/** Runs tests until one fails, in a process group of its own, and ends the whole group then. */
const runTests = async (cwd, tests) => {
  const project = projectOf(tests[0])
  const args = ['run', '--reporter', 'verbose', '--project', project, ...tests]
  const child = spawn('vitest', args, {
    cwd,
    detached: true,
    env: { ...process.env, CI: 'true', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Every process of the group has ended.
    }
  }
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
    if (FAILED_TEST.test(output)) killGroup()
  })
  const timer = setTimeout(killGroup, RUN_TIMEOUT_MS)
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  killGroup()
  return { passed: status === 0, failedFile: FAILED_TEST.exec(output)?.[1], output, errors }
}

/** Links every package. The cache that vitest keeps beside them is the copy's own. */
const linkModules = (copy) => {
  const [from, to] = [join(root, 'node_modules'), join(copy, 'node_modules')]
  mkdirSync(to)
  for (const entry of readdirSync(from))
    if (!entry.startsWith('.vite')) symlinkSync(join(from, entry), join(to, entry))
  if (existsSync(join(from, '.vite')))
    cpSync(join(from, '.vite'), join(to, '.vite'), { recursive: true })
}

/** The test file that fails because the code is broken, or null if none does. */
const findCatcher = async (mutant) => {
  const copy = mkdtempSync(join(tmpdir(), 'perigee-mutant-'))
  try {
    for (const entry of COPIED) cpSync(join(root, entry), join(copy, entry), { recursive: true })
    linkModules(copy)
    const file = join(copy, mutant.file)
    let text = replace(readFileSync(file, 'utf8'), mutant, mutant.name)
    if (mutant.also) text = replace(text, mutant.also, mutant.name)
    writeFileSync(file, text)
    // `npm test` shows that unchanged code passes these files, so a failure here is the mutant's.
    const tests = mutant.tests ?? ['ledger/licenses', 'ledger/expirations', 'ledger/model']
    // A run may fail to start while the machine is busy. Each failure is printed.
    for (let attempts = 0; attempts < 3; attempts++) {
      const { passed, failedFile, output, errors } = await runTests(copy, tests)
      if (passed || failedFile) return failedFile ?? null
      console.log(`${mutant.name}: the tests did not run\n${(output + errors).slice(-4000)}`)
    }
    throw new Error(`${mutant.name}: the tests did not run`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

function selectPart() {
  if (!findPreviousRelease()) return MUTANTS
  const changed = new Set(git('diff', '--name-only', PREVIOUS_RELEASE, '--', 'src').split('\n'))
  const turn = Number(git('rev-list', '--count', 'HEAD'))
  return MUTANTS.filter(({ file }, index) => changed.has(file) || (index + turn) % 3 === 0)
}

/** Two at a time: starting vitest occupies one core. */
const CONCURRENCY = 2
const selected = process.argv.includes('--part') ? selectPart() : MUTANTS
console.log(`${selected.length} of ${MUTANTS.length} mutants`)
const waiting = [...selected]
const survivors = []
const runWaiting = async () => {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const startedAt = Date.now()
    const catcher = await findCatcher(mutant)
    if (catcher === null) survivors.push(mutant)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    const result = catcher === null ? 'SURVIVED  ' : 'caught    '
    console.log(`${result}${mutant.name} (${seconds} s${catcher ? `, ${catcher}` : ''})`)
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, runWaiting))
console.log(`${selected.length - survivors.length} passed, ${survivors.length} failed`)
if (survivors.length > 0) process.exit(1)
