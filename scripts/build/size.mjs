// Prints the size of the Worker and of the console, and the time that the Worker takes to start and to
// load each part that it loads later. Fails over a budget.

import { fail, useToolchain } from '../toolchain.mjs'
import { wrangler } from '../wrangler.mjs'
import { measureFirstLoad } from './console-size.mjs'

/**
 * In KB gzip: what is evaluated when the Worker starts, and each part that is loaded on first use. A
 * change that needs more raises them and says in its commit what for.
 */
const START_BUDGET_KB = 430
const LAZY_BUDGET_KB = 60
/** What a browser loads before the console shows its first page; the map comes later. */
const CONSOLE_BUDGET_KB = 60
const bundle = 'dist/worker.bundle'
const ROUNDS = 5

await useToolchain()
const built = wrangler('deploy', '--dry-run', '--minify', '--outfile', bundle)
if (!built.ok) fail(built.output)
// On a busy machine wrangler ends a profile after ten seconds: those that succeed are enough.
const profile = ['check', 'startup', '--worker', bundle, '--outfile', 'dist/startup.cpuprofile']
const rounds = Array.from({ length: ROUNDS }, () => wrangler(...profile))
const reports = rounds.filter(({ ok }) => ok).map(({ output }) => output)
if (reports.length === 0) fail(rounds[0].output)

const minified = readFigure(reports[0], /Bundle: ([\d.]+) KiB/)
const gzipped = readFigure(reports[0], /gzip: ([\d.]+) KiB/)
const startups = reports
  .map((report) => readFigure(report, /Active: ([\d.]+) ms/))
  .sort((a, b) => a - b)

console.log(`Worker, minified   ${minified.toFixed(1)} KB`)
console.log(`Worker, gzip       ${gzipped.toFixed(1)} KB, all parts together`)
console.log(
  `Start-up           ${startups[Math.floor(startups.length / 2)]} ms of CPU time on this machine, from loading the bundle to being ready`,
)
console.log(
  `                   (median of ${startups.length} profiles by wrangler check startup; slowest ${startups.at(-1)} ms)`,
)
// It imports packages, which were not installed before.
const { measureParts } = await import('./lazy-parts.mjs')
const { startKb, lazy } = await measureParts()
console.log(`At the start, gzip ${startKb.toFixed(1)} KB of at most ${START_BUDGET_KB} KB`)
for (const { name, kb, ms } of lazy)
  console.log(
    `On first use, gzip ${kb.toFixed(1)} KB of at most ${LAZY_BUDGET_KB} KB and ${ms.toFixed(0)} ms: ${name}`,
  )
const firstLoad = measureFirstLoad()
console.log(
  `Console, gzip      ${firstLoad.toFixed(1)} KB of at most ${CONSOLE_BUDGET_KB} KB at the first load, without the map`,
)
if (firstLoad > CONSOLE_BUDGET_KB)
  fail(`The console is ${(firstLoad - CONSOLE_BUDGET_KB).toFixed(1)} KB over its budget.`)
if (startKb > START_BUDGET_KB)
  fail(`The start of the Worker is ${(startKb - START_BUDGET_KB).toFixed(1)} KB over its budget.`)
for (const { name, kb } of lazy)
  if (kb > LAZY_BUDGET_KB)
    fail(`${name} loads ${(kb - LAZY_BUDGET_KB).toFixed(1)} KB more on first use than it may.`)

function readFigure(report, pattern) {
  const found = report.match(pattern)
  return found ? Number(found[1]) : fail(`${report}\nWrangler's output has no ${pattern}.`)
}
