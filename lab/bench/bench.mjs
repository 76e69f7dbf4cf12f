// The figures by which the service is chosen: `npm run bench [-- --json --short --only rows,growth,sweep,export,streams,cost
// --rows token,lastLocation]`.
// Everything is compared inside one run, in interleaved rounds, on the bundle that a deploy would upload. `--short` only shows
// that it still runs: it holds nothing to a threshold.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    short: { type: 'boolean' },
    only: { type: 'string', default: 'rows,growth,sweep,export,streams,cost' },
    rows: { type: 'string' },
  },
})
await useToolchain()
const { bundle } = await import('../harness/server.mjs')
const { interleaved, median, ratioOf } = await import('./rate.mjs')
const { print } = await import('./print.mjs')

const FULL = {
  rows: { rounds: 9, milliseconds: 600, lanes: 8 },
  growth: { small: 100, large: 100_000, measure: { rounds: 9, milliseconds: 400, lanes: 8 } },
  sweep: { due: 1000, small: 10_000, large: 1_000_000, rounds: 3 },
  export: { locations: 1_000_000 },
  streams: { streams: 1000, rounds: 9 },
  cost: { reports: 100 },
}
const SHORT = {
  rows: { rounds: 1, milliseconds: 150, lanes: 8 },
  growth: { small: 100, large: 1000, measure: { rounds: 1, milliseconds: 100, lanes: 4 } },
  sweep: { due: 100, small: 1000, large: 2000, rounds: 1 },
  export: { locations: 20_000 },
  streams: { streams: 50, rounds: 1 },
  cost: { reports: 5 },
}
const sizes = options.short ? SHORT : FULL
const wanted = options.rows ? ['rows'] : options.only.split(',')
const began = performance.now()
const progress = (text) =>
  process.stderr.write(`\r\x1b[K${Math.round((performance.now() - began) / 1000)} s  ${text}`)

const PARTS = {
  rows: compareRows,
  growth: async (common) => (await import('./growth.mjs')).growth({ ...common, ...sizes.growth }),
  sweep: async (common) => (await import('./sweep.mjs')).sweepGrowth({ ...common, ...sizes.sweep }),
  export: async (common) =>
    (await import('./export.mjs')).exportMemory({ ...common, ...sizes.export }),
  streams: async (common) =>
    (await import('./streams.mjs')).streamReach({ ...common, ...sizes.streams }),
  cost: async (common) => (await import('./cost.mjs')).locationCost({ ...common, ...sizes.cost }),
}

progress('building the Worker')
const script = bundle()
const results = {}
for (const part of wanted) results[part] = await PARTS[part]({ script, progress })
progress('')
process.stderr.write('\r\x1b[K')

const report = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.versions.node}`,
  seconds: Math.round((performance.now() - began) / 1000),
  sizes,
  ...results,
}
if (options.json) console.log(JSON.stringify(report, null, 2))
const misses = print(report, options.json ? console.error : console.log, { marks: !options.short })
process.exitCode = !options.short && misses > 0 ? 1 : 0

async function compareRows({ script, progress }) {
  const { setScene } = await import('./scene.mjs')
  const { chosenRows, rows } = await import('./rows.mjs')
  progress('setting the scene')
  const scene = await setScene(script)
  const compared = []
  try {
    for (const row of chosenRows(rows(scene), options.rows)) {
      const { name, floor, locations, leastLocations, prepare, api, bare } = row
      progress(name)
      const rates = await interleaved({ api, bare }, { ...sizes.rows, prepare })
      const [ours, theirs] = [median(rates.api), median(rates.bare)]
      compared.push({
        name,
        api: ours,
        bare: theirs,
        ratio: ratioOf(rates.api, rates.bare),
        floor,
        locations: locations && ours * locations,
        leastLocations,
      })
    }
  } finally {
    await scene.stop()
  }
  return compared
}
