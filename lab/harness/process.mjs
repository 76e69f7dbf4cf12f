import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readBindings } from './server.mjs'

const serveScript = fileURLToPath(new URL('serve.mjs', import.meta.url))

/** A server in a process group of its own: the runtime dies with it. */
export class ServerProcess {
  #options
  #child
  #heap

  constructor({ script, folder, port, cells = 1, vars = {}, assets = true, direct, heap }) {
    const scriptFile = join(folder, 'worker.js')
    writeFileSync(scriptFile, script)
    this.#options = {
      scriptFile,
      folder,
      cells,
      vars,
      assets,
      ...(direct ? { direct: port } : { port }),
    }
    this.#heap = heap
    this.base = `http://127.0.0.1:${port}`
    this.folder = folder
  }

  async start() {
    this.#options.bindings ??= await readBindings(this.#options)
    const child = spawn(process.execPath, [serveScript, JSON.stringify(this.#options)], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      ...(this.#heap && {
        env: { ...process.env, MINIFLARE_WORKERD_V8_FLAGS: `--max-heap-size=${this.#heap}` },
      }),
    })
    this.#child = child
    const first = await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'exit'),
    ])
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server ended at its start (${first})`)
  }

  /** As a power cut would: no handler runs, nothing is flushed. */
  async kill() {
    const child = this.#child
    const gone = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await gone
  }

  async stop() {
    const gone = once(this.#child, 'exit')
    this.#child.stdin.end()
    await gone
  }

  /** Resident bytes of the runtime, without Miniflare's own Node around it. */
  memory() {
    const runtime = groupOf(this.#child.pid).find(({ name }) => name === 'workerd')
    return runtime ? runtime.resident : 0
  }
}

/** Processes of a group, as Linux lists them. */
function groupOf(group) {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [, name, rest] = /\((.*)\) (.*)/.exec(stat)
      if (Number(rest.split(' ')[2]) !== group) return []
      const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
      return [{ pid: Number(pid), name, resident: Number(pages) * 4096 }]
    } catch {
      return []
    }
  })
}

/** A port that nobody listens on now; the same one is used again after every restart. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
