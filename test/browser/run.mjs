// Serves a clean copy of the project with `npm start` and runs every other file of this folder
// against it, except those of `support/`.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { waitForExit } from '../../scripts/child.mjs'
import { readSecrets } from '../../scripts/secrets.mjs'
import { root, useToolchain } from '../../scripts/toolchain.mjs'

const START_TIMEOUT_MS = 120_000
const FILE_TIMEOUT_MS = 900_000
const SHOWN_LINES = 80
const NOT_COPIED = ['node_modules', '.git', '.wrangler', '.dev.vars', 'dist', 'coverage']

await useToolchain()
const copy = mkdtempSync(join(tmpdir(), 'perigee-browser-'))
cpSync(root, copy, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const port = await freePort()
// A group of its own, so that the whole of it can be ended.
const server = spawn('npm', ['start'], {
  cwd: copy,
  detached: true,
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, PORT: port },
})
const serverExit = new Promise((resolve) => server.once('exit', resolve))
process.on('exit', () => signalGroup('SIGKILL'))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
let output = ''
let failed = []
try {
  await ready()
  const env = {
    ...process.env,
    ...readSecrets(join(copy, '.dev.vars')),
    BASE_URL: `http://localhost:${port}`,
  }
  const files = readdirSync(join(root, 'test/browser'), { recursive: true })
    .filter((file) => /^(?!run\.mjs|support\W).*\.mjs$/.test(file))
    .sort()
  for (const file of files) {
    console.log(`\n── test/browser/${file}`)
    const began = Date.now()
    const { code, errors } = await runFile(file, env)
    const seconds = Math.round((Date.now() - began) / 1000)
    console.log(`── test/browser/${file}: exit code ${code} after ${seconds} s`)
    if (code !== 0) failed.push(`${file} (exit code ${code} after ${seconds} s)\n${errors}`)
  }
} catch (problem) {
  failed = [problem.message]
} finally {
  await stop()
}
if (failed.length > 0) {
  // The failures last, where the end of a long log shows them.
  const notes = output
    .split('\n')
    .filter((line) => line.trim() && !/"level":"info"|:info\]/.test(line))
  console.error(`The server printed:\n${notes.slice(-SHOWN_LINES).join('\n')}`)
  console.error(`\nFailed in the browser: ${failed.join('\n')}`)
}
process.exit(failed.length > 0 ? 1 : 0)

/** What the file prints as errors is shown at once, and returned. */
async function runFile(file, env) {
  const child = spawn(process.execPath, [join('test/browser', file)], {
    stdio: ['inherit', 'inherit', 'pipe'],
    env,
    timeout: FILE_TIMEOUT_MS,
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    process.stderr.write(chunk)
    errors += chunk
  })
  return { code: await waitForExit(child), errors }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(String(port)))
    })
  })
}

function ready() {
  return new Promise((resolve, reject) => {
    const take = (chunk) => {
      output += chunk
      if (output.includes('Get a token:')) resolve()
    }
    server.stdout.on('data', take)
    server.stderr.on('data', take)
    serverExit.then(() => reject(new Error('npm start ended before it was ready')))
    setTimeout(
      () => reject(new Error(`npm start was not ready within ${START_TIMEOUT_MS / 1000} s`)),
      START_TIMEOUT_MS,
    ).unref()
  })
}

async function stop() {
  signalGroup('SIGTERM')
  setTimeout(() => signalGroup('SIGKILL'), 10_000).unref()
  await serverExit
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
}

function signalGroup(signal) {
  try {
    process.kill(-server.pid, signal)
  } catch (problem) {
    if (problem.code !== 'ESRCH') throw problem
  }
}
