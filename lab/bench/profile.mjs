// Where the Worker's CPU time goes while a row of `npm run bench` runs:
// `node lab/bench/profile.mjs [--rows token,lastLocation --connections n --milliseconds n --top n]`.
// Samples come from the runtime's inspector, from the Worker's isolate alone: D1 and the HTTP server have threads of their own.
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string' },
    connections: { type: 'string', default: '8' },
    milliseconds: { type: 'string', default: '3000' },
    top: { type: 'string', default: '25' },
  },
})
await useToolchain()
const { bundle } = await import('../harness/server.mjs')
const { measureRate } = await import('../harness/rate.mjs')
const { listRows, selectRows } = await import('./rows.mjs')
const { prepareFixture } = await import('./fixture.mjs')

const connections = Number(options.connections)
const INTERVAL_US = 200
const fixture = await prepareFixture(bundle({ readable: true }), { inspectorPort: 0 })
try {
  const inspector = await connect(await fixture.server.getInspectorURL())
  for (const { name, api } of selectRows(listRows(fixture), options.rows)) {
    await measureRate(1000, connections, api)
    await inspector.ask('Profiler.enable')
    await inspector.ask('Profiler.setSamplingInterval', { interval: INTERVAL_US })
    await inspector.ask('Profiler.start')
    const milliseconds = Number(options.milliseconds)
    const perSecond = await measureRate(milliseconds, connections, api)
    const { profile } = await inspector.ask('Profiler.stop')
    print(name, profile, (perSecond * milliseconds) / 1000)
  }
  inspector.close()
} finally {
  await fixture.stop()
}

/** Speaks the Chrome DevTools Protocol to the Worker's isolate. */
async function connect({ host }) {
  const targets = await (await fetch(`http://${host}/json`)).json()
  const target = targets.find(({ id }) => /user/.test(id)) ?? targets[0]
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`no inspector at ${target.webSocketDebuggerUrl}`))
  })
  const asked = new Map()
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data)
    const waiting = asked.get(id)
    if (!waiting) return
    asked.delete(id)
    if (error) waiting.reject(new Error(error.message))
    else waiting.resolve(result)
  }
  let last = 0
  return {
    ask: (method, params = {}) =>
      new Promise((resolve, reject) => {
        asked.set(++last, { resolve, reject })
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    close: () => socket.close(),
  }
}

/** Microseconds of a request, by function: its own time, and with all that it calls. */
function print(name, { nodes, samples, timeDeltas }, requests) {
  const own = new Map()
  // While another isolate runs, no sample is taken: the next one would be charged for that time.
  for (const [index, id] of samples.entries())
    own.set(id, (own.get(id) ?? 0) + Math.min(timeDeltas[index] ?? 0, INTERVAL_US))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const [selfTime, totalTime] = [new Map(), new Map()]
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time)
  const visit = (node, above) => {
    const { functionName, lineNumber } = node.callFrame
    const label = functionName || `(anonymous:${lineNumber})`
    const time = own.get(node.id) ?? 0
    const total = (node.children ?? []).reduce(
      (sum, id) => sum + visit(byId.get(id), new Set([...above, label])),
      time,
    )
    add(selfTime, label, time)
    if (!above.has(label)) add(totalTime, label, total)
    return total
  }
  const all = visit(nodes[0], new Set())
  const idle = selfTime.get('(idle)') ?? 0
  const each = (time) => (time / requests).toFixed(1).padStart(8)
  console.log(
    `\n${name}: ${Math.round(requests)} requests, ${each(all - idle).trim()} µs of CPU each`,
  )
  for (const [title, map] of [
    ['own', selfTime],
    ['with callees', totalTime],
  ]) {
    const lines = [...map].filter(([label]) => label !== '(idle)' && label !== '(root)')
    const top = lines.sort((a, b) => b[1] - a[1]).slice(0, Number(options.top))
    console.log(`  ${title}`)
    for (const [label, time] of top) console.log(`  ${each(time)}  ${label}`)
  }
}
