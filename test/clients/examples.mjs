// Starts the programs of examples/ and waits for what they do.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const TIMEOUT_MS = 60_000

/** Waits until `find` returns something. */
export async function until(what, find) {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; ) {
    const found = await find()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`Waited in vain for ${what}`)
}

/** Runs a program that prints a JSON object in each line, first `{"listening": …}`. */
export async function start(python, args, options) {
  const child = spawn(python, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const stop = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  try {
    const { listening } = await until(`${args} to start`, () => {
      if (child.exitCode !== null) throw new Error(`${args} ended with ${child.exitCode}`)
      return lines.shift()
    })
    return { listening, lines, stop }
  } catch (problem) {
    await stop()
    throw problem
  }
}
