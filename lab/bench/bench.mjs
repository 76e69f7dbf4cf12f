// npm run bench [-- --json --short --only rows,growth,sweep,export,streams,cost --rows token,lastLocation --delay ms]
// Measures the service. Everything is compared inside one run, in interleaved rounds, on the
// bundle that a deploy would upload. `--short` only shows that the benchmarks still run.
// `--delay` adds so many milliseconds to every call to D1, and compares the rows with the same API
// whose requests each make their own calls; `--delay 0` compares the two without a delay.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    short: { type: 'boolean' },
    only: { type: 'string', default: 'rows,growth,sweep,export,streams,cost' },
    rows: { type: 'string' },
    delay: { type: 'string' },
  },
})
await useToolchain()
const { bundle } = await import('../harness/server.mjs')
const { measureInterleaved, median, medianRatio } = await import('../harness/rate.mjs')
const { printReport } = await import('./print.mjs')

const FULL = {
  rows: { rounds: 9, durationMs: 500 },
  growth: { small: 100, large: 100_000, measure: { rounds: 9, durationMs: 400, concurrency: 8 } },
  sweep: { due: 1000, small: 10_000, large: 1_000_000, rounds: 3 },
  export: { locations: 1_000_000 },
  streams: { streams: 1000, rounds: 9 },
  cost: { reports: 100 },
}
const SHORT = {
  rows: { rounds: 1, durationMs: 150 },
  growth: { small: 100, large: 1000, measure: { rounds: 1, durationMs: 100, concurrency: 4 } },
  sweep: { due: 100, small: 1000, large: 2000, rounds: 1 },
  export: { locations: 20_000 },
  streams: { streams: 50, rounds: 1 },
  cost: { reports: 5 },
}
const sizes = options.short ? SHORT : FULL
const delayMs = options.delay === undefined ? undefined : Number(options.delay)
const wanted = options.rows || delayMs !== undefined ? ['rows'] : options.only.split(',')
const startedAt = performance.now()
const elapsedSeconds = () => Math.round((performance.now() - startedAt) / 1000)
const progress = (text) => process.stderr.write(`\r\x1b[K${elapsedSeconds()} s  ${text}`)

const PARTS = {
  rows: compareRows,
  growth: async (context) => (await import('./growth.mjs')).measureGrowth(context),
  sweep: async (context) => (await import('./sweep.mjs')).measureSweep(context),
  export: async (context) => (await import('./export.mjs')).measureExportMemory(context),
  streams: async (context) => (await import('./streams.mjs')).measureStreams(context),
  cost: async (context) => (await import('./cost.mjs')).measureLocationCost(context),
}

progress('building the Worker')
const script = bundle(delayMs ? { entry: 'lab/bench/delayed.ts' } : {})
const results = {}
for (const part of wanted) results[part] = await PARTS[part]({ script, progress, ...sizes[part] })
progress('')
process.stderr.write('\r\x1b[K')

const report = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.versions.node}`,
  seconds: elapsedSeconds(),
  delayMs,
  sizes,
  ...results,
}
if (options.json) console.log(JSON.stringify(report, null, 2))
const missed = printReport(report, {
  print: options.json ? console.error : console.log,
  hasThresholds: !options.short,
})
process.exitCode = !options.short && missed > 0 ? 1 : 0

async function compareRows({ script, progress, ...measure }) {
  const { prepareFixture } = await import('./fixture.mjs')
  const { listDelayedRows, listRows, selectRows } = await import('./rows.mjs')
  progress('creating the data')
  const fixture = await prepareFixture(script, { delayMs })
  const all = delayMs === undefined ? listRows(fixture) : listDelayedRows(fixture)
  const compared = []
  try {
    for (const row of selectRows(all, options.rows)) {
      const { name, floors, locations, minLocationsPerSecond, prepare, api, bare } = row
      const at = []
      for (const [connections, floor] of Object.entries(floors)) {
        progress(`${name} at ${connections}`)
        const concurrency = Number(connections)
        const rates = await measureInterleaved({ api, bare }, { ...measure, concurrency, prepare })
        at.push({
          connections: concurrency,
          api: median(rates.api),
          bare: median(rates.bare),
          ratio: medianRatio(rates.api, rates.bare),
          floor,
        })
      }
      compared.push({
        name,
        at,
        locations: locations && at[0].api * locations,
        minLocationsPerSecond,
      })
    }
  } finally {
    await fixture.stop()
  }
  return compared
}
