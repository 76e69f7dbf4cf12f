import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { send } from '../../../lab/harness/http.mjs'
import { findFreePort } from '../../../lab/harness/process.mjs'
import { bundle, readBindings, serve, temporaryFolder } from '../../../lab/harness/server.mjs'
import type { CallBody, RecordedCall, Rule } from './joinWorker.ts'

export interface Outcome {
  results?: unknown
  error?: string
}

interface Seen {
  calls: RecordedCall[]
  /** How many calls wait for the one under way. */
  waiting: number
  left: number
}

const TIMEOUT_MS = 30_000

/** A configuration without the console, which would be built first. */
export const bundleJoinWorker = (): string =>
  bundle({ entry: 'test/support/db/joinWorker.ts', config: 'lab/bench/bare.toml' })

/** Serves the Worker of these tests. `begin` gives a test a client and a stopped clock of its own. */
export const serveJoinWorker = async (script: string, { joins = true } = {}) => {
  const folder = temporaryFolder()
  const variables = { ...process.env }
  const bindings = await readBindings({ assets: false })
  // The Worker sees when a client disconnects.
  bindings.compatibilityFlags.push('enable_request_signal')
  const { base, databases, stop } = await serve({
    script,
    folder,
    joins,
    bindings,
    // Behind the entry Worker of Miniflare a disconnect is not seen.
    directPort: await findFreePort(),
  })
  // The settings of the lab are not for other tests of this process.
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
  const database: D1Database = databases[0]
  await database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT UNIQUE, text TEXT)')
  await database.exec('CREATE TABLE numbers (n INTEGER PRIMARY KEY)')
  await database.exec(
    `INSERT INTO numbers WITH RECURSIVE counted (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 2000) SELECT n FROM counted`.replaceAll(
      '\n',
      ' ',
    ),
  )

  const post = async (action: string, body: unknown = null) => {
    const reply = await send(base, `/join/${action}`, {
      method: 'POST',
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT_MS,
    })
    if (reply.status !== 200) throw new Error(`${action}: ${reply.status} ${reply.text}`)
    return JSON.parse(reply.text)
  }
  const look = (): Promise<Seen> => post('look')

  /** Waits until the Worker is as the test needs it. */
  const until = async (isReady: (seen: Seen) => boolean): Promise<Seen> => {
    const latest = Date.now() + TIMEOUT_MS
    for (;;) {
      const seen = await look()
      if (isReady(seen)) return seen
      if (Date.now() > latest) throw new Error(`not reached: ${JSON.stringify(seen)}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  return {
    base,
    look,
    begin: async () => {
      await post('begin')
      await database.exec('DELETE FROM notes')
    },
    /** The clock goes on by itself. */
    startClock: (): Promise<Seen> => post('start'),
    advance: (ms: number): Promise<Seen> => post('advance', ms),
    addRule: (rule: Rule): Promise<Seen> => post('rule', rule),
    openGate: (gate: string): Promise<Seen> => post('open', gate),
    call: (body: CallBody): Promise<Outcome> => {
      const outcome = post('call', body)
      // A test may end without it.
      outcome.catch(() => {})
      return outcome
    },
    /** A call whose client disconnects when the test says so. */
    callAndLeave: (body: CallBody): (() => Promise<unknown>) => {
      const outgoing = request(`${base}/join/call`, { method: 'POST', agent: false })
      outgoing.on('error', () => {})
      outgoing.end(JSON.stringify(body))
      return () => {
        outgoing.socket?.resetAndDestroy()
        return until(({ left }) => left === 1)
      }
    },
    until,
    /** The names of the stored rows, in the order in which they were stored. */
    stored: async (): Promise<string[]> => {
      const { results } = await database.prepare('SELECT name FROM notes ORDER BY id').all()
      return results.map(({ name }) => String(name))
    },
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

export type JoinServer = Awaited<ReturnType<typeof serveJoinWorker>>
