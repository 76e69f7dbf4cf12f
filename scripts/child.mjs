import { spawn } from 'node:child_process'
import { constants } from 'node:os'

// Read at once: the parent may end before the first child runs.
const parent = process.ppid

/** Runs a command on the terminal and returns its exit code. */
export function run(command, args = [], options = {}) {
  return waitForExit(spawn(command, args, { stdio: 'inherit', ...options }))
}

/** Forwards signals to a child and returns its exit code once it has ended. */
export function waitForExit(child) {
  const forward = (signal) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, forward)

  // An npm that is killed with SIGKILL forwards nothing; only the new parent shows that it has
  // ended.
  const isOrphan = () => process.env.npm_lifecycle_event !== undefined && process.ppid !== parent
  const watch = setInterval(() => isOrphan() && child.kill('SIGTERM'), 500)

  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      for (const name of signals) process.off(name, forward)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
