import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'

/* The command line as a process, against a service of the test. */

const MAIN = 'clients/typescript/cli/main.ts'
const SECOND_MS = 1000

type Json = Record<string, unknown>
interface Call {
  path: string
  query: URLSearchParams
  body: Json
  reply: (status: number, body: Json | string) => void
}

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
  vi.unstubAllEnvs()
})

const replyWith = (response: ServerResponse) => (status: number, body: Json | string) =>
  response
    .writeHead(status, { 'Content-Type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body))

/** A service that gives tokens and leaves other calls to `answer`. */
const serve = async (answer: (call: Call) => void): Promise<string> => {
  const claims = btoa(JSON.stringify({ iat: 0, exp: 3600 })).replaceAll('=', '')
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const reply = replyWith(response)
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    if (path === '/api/Auth/Token') reply(200, { success: true, token: `h.${claims}.s` })
    else answer({ path, query, body: text ? JSON.parse(text) : {}, reply })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ended.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const perigee = (url: string, ...args: string[]) => {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, PERIGEE_URL: url, PERIGEE_USER_NAME: 'demo', PERIGEE_API_KEY: 'pgk' },
  })
  ended.push(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (part) => {
      output[name] += part
    })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    output,
    code,
    write: (text: string) => child.stdin?.write(text),
    interrupt: () => child.kill('SIGINT'),
    end: (text = '') => child.stdin?.end(text),
  }
}

const lineOf = (index: number, more: Json = {}) =>
  `${JSON.stringify({ identifier: 'tern', dateTime: '2020-01-01T00:00:00Z', latitude: index, longitude: 0, ...more })}\n`
const stored = (count: number) => ({
  success: true,
  ...{ accepted: count, duplicates: 0, conflicts: 0, tooOld: 0, unknown: 0, refused: 0 },
  results: [],
})
const latitudesOf = ({ body }: Call): number[] =>
  (body.locations as { latitude: number }[]).map(({ latitude }) => latitude)
const within = { timeout: 15 * SECOND_MS, interval: 20 }

test('lines that arrive while the service is slow are sent before stdin ends', async () => {
  const calls: Call[] = []
  const url = await serve((call) => calls.push(call))
  const { code, output, write, end } = perigee(url, 'report', '-')
  write(lineOf(1))
  await vi.waitFor(() => expect(calls.length).toBe(1), within)
  write(lineOf(2) + lineOf(3))
  await new Promise((resolve) => setTimeout(resolve, SECOND_MS / 2))
  calls[0]?.reply(200, stored(1))
  await vi.waitFor(() => expect(calls.length).toBe(2), within)
  calls[1]?.reply(200, stored(2))
  expect(calls.map(latitudesOf)).toEqual([[1], [2, 3]])
  end()
  expect([await code, output.stdout]).toEqual([0, '3 stored\n'])
})

test('lines before one that is not JSON are sent, and counted', async () => {
  const calls: Call[] = []
  const url = await serve((call) => calls.push(call))
  const { code, output, write, end } = perigee(url, 'report', '-')
  write(lineOf(1))
  await vi.waitFor(() => expect(calls.length).toBe(1), within)
  end(`${lineOf(2)}{"identifier\n${lineOf(3)}`)
  await new Promise((resolve) => setTimeout(resolve, SECOND_MS / 2))
  calls[0]?.reply(200, stored(1))
  await vi.waitFor(() => expect(calls.length).toBe(2), within)
  calls[1]?.reply(200, stored(1))
  expect([await code, output.stdout, latitudesOf(calls[1] as Call)]).toEqual([2, '2 stored\n', [2]])
  expect(output.stderr).toContain('Line 3 of stdin is not JSON.')
})

test('an outage is waited for, and a location that is not valid holds back no others', async () => {
  let failures = 6
  const url = await serve((call) => {
    if (failures-- > 0) return call.reply(500, { detail: 'No.', code: 'internal' })
    const at = latitudesOf(call).findIndex((latitude) => latitude > 90)
    if (at < 0) return call.reply(200, stored(latitudesOf(call).length))
    const errors = [{ pointer: `/locations/${at}/latitude`, detail: 'must be at most 90' }]
    call.reply(400, { detail: 'No.', code: 'invalid-request', errors })
  })
  const { code, output, end } = perigee(url, 'report', '-', '--json')
  end(lineOf(1) + lineOf(91) + lineOf(2))
  expect(await code).toBe(1)
  expect(JSON.parse(output.stdout)).toMatchObject({ accepted: 2, invalid: 1 })
  expect(output.stderr).toContain('line 2: latitude must be at most 90')
  expect(output.stderr).toContain('What waits is sent later.')
})

test('a refusal for good ends a report at once, although stdin goes on', async () => {
  const url = await serve(({ reply }) => reply(403, { detail: 'Not allowed.', code: 'forbidden' }))
  const { code, output, write } = perigee(url, 'report', '-')
  write(lineOf(1))
  expect([await code, output.stdout]).toEqual([3, '0 stored\n'])
  expect(output.stderr).toMatch(/1 location was not sent\.[\s\S]*Not allowed\./)
})

test('a name in several words without quotation marks is refused', async () => {
  const commands = [
    ['report', 'Tern', '7', '--latitude', '1', '--longitude', '2'],
    ['track', 'Tern', '7'],
    ['devices', 'Tern', '7'],
    ['export', 'account.tar.gz'],
  ]
  const runs = commands.map((args) => perigee('http://127.0.0.1:9', ...args))
  expect(await Promise.all(runs.map(({ code }) => code))).toEqual([2, 2, 2, 2])
  for (const { output } of runs) expect(output.stderr).toContain('is one argument too many')
})

test('a device is found by a name longer than an identifier can be', async () => {
  const name = 'T'.repeat(100)
  const paths: string[] = []
  const device = { id: 'dev_1', name }
  const url = await serve(({ path, body, reply }) => {
    paths.push(path)
    if (path === '/api/devices') reply(200, { success: true, devices: [device], nextCursor: null })
    else reply(200, stored((body.locations as unknown[]).length))
  })
  const { code, output } = perigee(url, 'report', name, '--latitude', '1', '--longitude', '2')
  expect([await code, output.stdout]).toEqual([0, '1 stored\n'])
  expect(paths).toEqual(['/api/devices', '/api/locations'])
})

const device = { id: 'dev_1', name: 'Tern 7' }
/** Answers as the service of one device; every other call is `answer`'s. */
const serveDevice = (answer: (call: Call) => void) =>
  serve((call) => {
    if (call.path !== '/api/devices') answer(call)
    else call.reply(200, { success: true, devices: [device], nextCursor: null })
  })

test.each([
  ['sends what waits', true, '1 stored\n', ''],
  ['says what a silent service has not got', false, '0 stored\n', '1 location was not sent.\n'],
])('an interrupted report %s', async (_, isAnswered, stdout, stderr) => {
  const calls: Call[] = []
  const url = await serve((call) => calls.push(call))
  const { code, output, write, interrupt } = perigee(url, 'report', '-')
  write(lineOf(1))
  await vi.waitFor(() => expect(calls.length).toBe(1), within)
  interrupt()
  if (isAnswered) calls[0]?.reply(200, stored(1))
  expect([await code, output.stdout, output.stderr]).toEqual([130, stdout, stderr])
})

test('positions of several devices are not imported as those of one', async () => {
  const url = await serveDevice(({ reply }) => reply(500, {}))
  const rows = ['imei,time,lat,lon', 'a,2019-01-01T00:00Z,1,2', 'b,2019-01-01T00:01Z,1,2', '']
  const run = (csv: string[]) => {
    const started = perigee(url, 'import', 'csv', '-', '--device', 'Tern 7', '--dry-run')
    started.end(csv.join('\n'))
    return started
  }
  const several = run(rows)
  const one = run(rows.toSpliced(2, 1))
  expect([await several.code, await one.code]).toEqual([2, 0])
  expect(several.output.stderr).toContain('The file has the positions of several devices.')
  expect(one.output.stdout).toContain('1 location from 2019-01-01T00:00:00.000Z')
})

test('the output “-” of a track is stdout', async () => {
  const gpx = '<gpx></gpx>'
  const url = await serveDevice(({ reply }) => reply(200, gpx))
  const { code, output } = perigee(url, 'track', 'Tern 7', '--gpx', '--output', '-')
  expect([await code, output.stdout]).toEqual([0, gpx])
})

test('CSV that breaks off within a line is an error', async () => {
  const line = 'dateTime,latitude\r\n'
  let csv = line
  const url = await serveDevice(({ reply }) => reply(200, csv))
  const whole = perigee(url, 'track', 'Tern 7', '--csv')
  expect([await whole.code, whole.output.stdout]).toEqual([0, line])
  csv = `${line}2020-01-01T00:00:00Z,1`
  const cut = perigee(url, 'track', 'Tern 7', '--csv')
  expect(await cut.code).toBe(4)
  expect(cut.output.stderr).toContain('ended the file before it was complete')
})

test('a table of devices says that the account is a sandbox, JSON does not ask', async () => {
  const paths: string[] = []
  let sandbox: Json | null = { of: null, erasesAt: '2030-01-02T00:00:00.000Z' }
  const url = await serveDevice(({ path, reply }) => {
    paths.push(path)
    reply(200, { success: true, account: { name: 'Demo', sandbox }, scopes: ['read'] })
  })
  const table = perigee(url, 'devices')
  const json = perigee(url, 'devices', '--json')
  expect([await table.code, await json.code, paths]).toEqual([0, 0, ['/api/me']])
  expect(table.output.stderr).toMatch(
    /^This account is a sandbox: .* erased on 2030-01-02\.\n1 dev/,
  )
  expect(json.output.stderr).toBe('')
  sandbox = null
  const real = perigee(url, 'devices')
  expect([await real.code, real.output.stderr]).toEqual([0, '1 device\n'])
})

test('a login says that the account is a sandbox', async () => {
  const config = mkdtempSync(join(tmpdir(), 'perigee-cli-'))
  ended.push(() => rmSync(config, { recursive: true, force: true }))
  vi.stubEnv('XDG_CONFIG_HOME', config)
  const sandbox = { of: null, erasesAt: null }
  const url = await serve(({ reply }) =>
    reply(200, { success: true, account: { name: 'Demo', sandbox }, scopes: ['read'] }),
  )
  const { code, output, end } = perigee(url, 'login')
  end('pgk\n')
  expect(await code).toBe(0)
  expect(output.stdout).toMatch(/^Signed in to Demo \(read\)/)
  expect(output.stderr).toMatch(/^This account is a sandbox: .*\n$/)
})

test('a tail ends at once if it is refused, and asks with the filter of the stream', async () => {
  const queries: string[] = []
  const url = await serve(({ path, query, reply }) => {
    if (path === '/api/devices/dev_1') return reply(200, { success: true, device })
    queries.push(decodeURIComponent(String(query)))
    reply(403, { detail: 'Not allowed.', code: 'forbidden' })
  })
  const { code, output } = perigee(url, 'tail', 'dev_1', '--type', 'alert.*')
  expect([await code, queries]).toEqual([3, ['types=alert.*&devices=dev_1&limit=1']])
  expect(output.stderr).toContain('Not allowed.')
})

test('a tail notes once that the connection is lost', async () => {
  let asked = 0
  // A service without WebSockets: every connection fails.
  const url = await serve(({ reply }) => {
    asked++
    reply(200, { success: true, events: [], lastSequence: 0, nextCursor: null })
  })
  const { code, output, interrupt } = perigee(url, 'tail')
  await vi.waitFor(() => expect(asked).toBeGreaterThan(2), within)
  interrupt()
  expect(await code).toBe(130)
  expect(output.stderr).toMatch(/^The connection is lost and will be opened again\. [^\n]*\n$/)
})

test('a tail says which events are no longer stored', async () => {
  vi.stubEnv('NODE_OPTIONS', '--no-experimental-websocket')
  const url = await serve(({ path, reply }) => {
    if (path === '/api/me') return reply(200, { success: true, user: null })
    reply(200, { success: true, events: [], lastSequence: 9, nextCursor: null })
  })
  const { code, output, interrupt } = perigee(url, 'tail', '--after', '3', '--type', 'device.*')
  await vi.waitFor(() => expect(output.stderr).not.toBe(''), within)
  interrupt()
  expect(await code).toBe(130)
  expect(output.stderr).toBe('The events 4 to 9 are no longer stored.\n')
})
