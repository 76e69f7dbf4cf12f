// How large the Worker is and how long it takes to start; fails over the budget.
import { fail, useToolchain } from './toolchain.mjs'
import { wrangler } from './wrangler.mjs'

/** In KB gzip. A change that needs more raises this and says in its commit what for. */
const budget = 170
const bundle = 'dist/worker.bundle'
const rounds = 5

await useToolchain()
succeed('deploy', '--dry-run', '--minify', '--outfile', bundle)
const reports = Array.from({ length: rounds }, () =>
  succeed('check', 'startup', '--worker', bundle, '--outfile', 'dist/startup.cpuprofile'),
)

const minified = read(reports[0], /Bundle: ([\d.]+) KiB/)
const gzipped = read(reports[0], /gzip: ([\d.]+) KiB/)
const startups = reports.map((report) => read(report, /Active: ([\d.]+) ms/)).sort((a, b) => a - b)

console.log(`Worker, minified   ${minified.toFixed(1)} KB`)
console.log(`Worker, gzip       ${gzipped.toFixed(1)} KB of at most ${budget} KB`)
console.log(
  `Start-up           ${startups[Math.floor(rounds / 2)]} ms of CPU on this machine, from loading the bundle to being ready for a request`,
)
console.log(
  `                   (median of ${rounds} profiles by wrangler check startup; the slowest ${startups.at(-1)} ms)`,
)
if (gzipped > budget) fail(`The Worker is ${(gzipped - budget).toFixed(1)} KB over its budget.`)

function succeed(...args) {
  const { ok, output } = wrangler(...args)
  return ok ? output : fail(output)
}

function read(report, figure) {
  const found = report.match(figure)
  return found ? Number(found[1]) : fail(`${report}\nNo ${figure} in what wrangler printed.`)
}
