import { spawn } from 'node:child_process'
import { constants } from 'node:os'

// Noted at once: whoever started us may be gone before the first child runs.
const parent = process.ppid

/** Runs a command on our terminal; answers its exit code. */
export function run(command, args = [], options = {}) {
  return ended(spawn(command, args, { stdio: 'inherit', ...options }))
}

/** Ties a child's life to ours: hands signals on to it, and answers its exit code once it has gone. */
export function ended(child) {
  const handOn = (signal) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, handOn)

  // An npm that is killed outright hands no signal on; its going shows only in a new parent.
  const orphaned = () => process.env.npm_lifecycle_event !== undefined && process.ppid !== parent
  const watch = setInterval(() => orphaned() && child.kill('SIGTERM'), 500)

  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      for (const name of signals) process.off(name, handOn)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
