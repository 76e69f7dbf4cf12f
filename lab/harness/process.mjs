import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readBindings } from './server.mjs'

const serveScript = fileURLToPath(new URL('serve.mjs', import.meta.url))

/** A server in its own process group, so that killing the group kills the runtime too. */
export class ServerProcess {
  #options
  #child
  #heapMegabytes

  /**
   * `isDirect`: the port leads straight to the Worker, without Miniflare's entry Worker before it.
   */
  constructor({
    script,
    folder,
    port,
    cells = 1,
    vars = {},
    assets = true,
    isDirect = false,
    triggers = false,
    heapMegabytes,
  }) {
    const scriptFile = join(folder, 'worker.js')
    writeFileSync(scriptFile, script)
    this.#options = {
      scriptFile,
      folder,
      cells,
      vars,
      assets,
      triggers,
      ...(isDirect ? { directPort: port } : { port }),
    }
    this.#heapMegabytes = heapMegabytes
    this.base = `http://127.0.0.1:${port}`
    this.folder = folder
  }

  async start() {
    this.#options.bindings ??= await readBindings(this.#options)
    const child = spawn(process.execPath, [serveScript, JSON.stringify(this.#options)], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      ...(this.#heapMegabytes && {
        env: {
          ...process.env,
          MINIFLARE_WORKERD_V8_FLAGS: `--max-heap-size=${this.#heapMegabytes}`,
        },
      }),
    })
    this.#child = child
    const first = await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'exit'),
    ])
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server ended while it started (${first})`)
  }

  /** Ends the process as a power cut would: no handler runs, nothing is flushed. */
  async kill() {
    const child = this.#child
    const exited = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await exited
  }

  async stop() {
    const exited = once(this.#child, 'exit')
    this.#child.stdin.end()
    await exited
  }

  /** Resident memory of the runtime, without Miniflare's Node process. */
  memoryBytes() {
    const runtime = listProcessGroup(this.#child.pid).find(({ name }) => name === 'workerd')
    return runtime ? runtime.residentBytes : 0
  }
}

/** The processes of a group, as Linux lists them in /proc. */
function listProcessGroup(group) {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [, name, rest] = /\((.*)\) (.*)/.exec(stat)
      if (Number(rest.split(' ')[2]) !== group) return []
      const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
      return [{ pid: Number(pid), name, residentBytes: Number(pages) * 4096 }]
    } catch {
      return []
    }
  })
}

/** A free port. A server that is killed and started again keeps its port. */
export async function findFreePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
