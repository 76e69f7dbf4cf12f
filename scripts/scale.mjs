// npm run scale [-- --devices n --interval seconds --accounts n --retention days]
// Computes what the service needs and costs. Without options it prints the table of docs/scale.md;
// a test compares the two.

import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const DAYS_PER_MONTH = 30
const MILLION = 1e6
const GB = 1e9

/**
 * Workers Paid as Cloudflare publishes it: the amount included each month, and the price of a
 * further unit in US dollars. Read in November 2026 at https://developers.cloudflare.com, in
 * workers/platform/pricing, d1/platform/pricing, durable-objects/platform/pricing and
 * workers/observability/logs/workers-logs/#pricing.
 */
export const PRICES = {
  plan: 5,
  requests: { included: 10 * MILLION, each: 0.3 / MILLION },
  cpuMilliseconds: { included: 30 * MILLION, each: 0.02 / MILLION },
  d1RowsRead: { included: 25_000 * MILLION, each: 0.001 / MILLION },
  d1RowsWritten: { included: 50 * MILLION, each: 1 / MILLION },
  d1Bytes: { included: 5 * GB, each: 0.75 / GB },
  objectRequests: { included: MILLION, each: 0.15 / MILLION },
  objectGigabyteSeconds: { included: 400_000, each: 12.5 / MILLION },
  objectRowsWritten: { included: 50 * MILLION, each: 1 / MILLION },
  objectBytes: { included: 5 * GB, each: 0.2 / GB },
  logEvents: { included: 20 * MILLION, each: 0.6 / MILLION },
}

/**
 * The cost of one operation. `npm run bench` measures those of a location; the others are counted
 * from statements and indexes.
 */
export const COSTS = {
  locationBytes: 64,
  deviceBytes: 1100,
  ledgerDeviceBytes: 600,
  alertBytes: 2000,
  cpuMilliseconds: 2,
  /** Ten rows; one more where the device has an end, one more where someone subscribes. */
  report: { d1Read: 12, d1Written: 1 },
  trimmedLocation: { d1Read: 2, d1Written: 1 },
  read: { d1Read: 3 },
  /** Read by each request: devices that report by the hour rarely meet the same isolate twice. */
  keyStatus: { d1Read: 4 },
  decision: { d1Read: 20, d1Written: 15, objectRequests: 2, objectWritten: 20, seconds: 0.05 },
  alert: { d1Read: 40, d1Written: 25, objectRequests: 4, objectWritten: 50, seconds: 0.5 },
}

/** Hard limits of the service and of the platform (…/d1/platform/limits and the like). */
export const LIMITS = {
  databaseBytes: 10 * GB,
  storedBytes: 1000 * GB,
  bindings: 5000,
  batchesPerSecond: 200,
  objectRequestsPerSecond: 1000,
  objectBytes: 10 * GB,
  accountRequestsPerSecond: 100,
}
/** How full a cell may become before the next is opened. */
const MAX_FILL = 0.7
/** The busiest second in relation to the average one. */
const PEAK_FACTOR = 3

/** Use of one device per month, besides its reports. */
const MONTHLY_USE = { reads: 24 * DAYS_PER_MONTH, decisions: 1, alerts: 2 }

/** `lastUsed` of an account's key is written at most once in this many seconds. */
const KEY_USE_SECONDS = 600

export function computeScale({
  devices,
  interval = 3600,
  accounts = Math.max(1, devices / 100),
  retention = 365,
}) {
  const locations = (devices * DAYS_PER_MONTH * 86_400) / interval
  const kept = (devices * retention * 86_400) / interval
  const reads = devices * MONTHLY_USE.reads
  const decisions = devices * MONTHLY_USE.decisions
  const alerts = devices * MONTHLY_USE.alerts
  const bytes =
    kept * COSTS.locationBytes +
    devices * COSTS.deviceBytes +
    alerts * (retention / DAYS_PER_MONTH) * COSTS.alertBytes
  const sum = (name) =>
    locations * ((COSTS.report[name] ?? 0) + (COSTS.trimmedLocation[name] ?? 0)) +
    reads * (COSTS.read[name] ?? 0) +
    decisions * (COSTS.decision[name] ?? 0) +
    alerts * (COSTS.alert[name] ?? 0)
  const requests = locations + reads + decisions + alerts
  const keyUses = Math.min(requests, (accounts * DAYS_PER_MONTH * 86_400) / KEY_USE_SECONDS)
  const busiest = (PEAK_FACTOR * (locations + decisions + alerts)) / (DAYS_PER_MONTH * 86_400)
  const used = {
    requests,
    cpuMilliseconds: requests * COSTS.cpuMilliseconds,
    d1RowsRead: sum('d1Read') + requests * COSTS.keyStatus.d1Read,
    d1RowsWritten: sum('d1Written') + keyUses,
    d1Bytes: bytes,
    objectRequests: sum('objectRequests'),
    objectGigabyteSeconds: sum('seconds') * 0.125,
    objectRowsWritten: sum('objectWritten'),
    objectBytes: devices * COSTS.ledgerDeviceBytes,
    logEvents: requests,
  }
  const cells = Math.max(
    Math.ceil(bytes / (LIMITS.databaseBytes * MAX_FILL)),
    Math.ceil(busiest / LIMITS.batchesPerSecond),
  )
  const cost = Object.entries(used).map(([name, amount]) => [
    name,
    Math.max(0, amount - PRICES[name].included) * PRICES[name].each,
  ])
  const perAccount = devices / accounts
  const busiestOf = (amount) =>
    (PEAK_FACTOR * perAccount * (amount / devices)) / (DAYS_PER_MONTH * 86_400)
  /** The share of each limit that is reached: with one database, and with as many as needed. */
  const inOneCell = {
    'the size of a D1 database (10 GB)': bytes / LIMITS.databaseBytes,
    'the one writer of a D1 database (200 batches/s)': busiest / LIMITS.batchesPerSecond,
  }
  const inManyCells = {
    'D1 storage of a Cloudflare account (1 TB)': bytes / LIMITS.storedBytes,
    'databases that a Worker can bind (5,000)': cells / LIMITS.bindings,
    'an account’s rate limit (6,000/min)': busiestOf(requests) / LIMITS.accountRequestsPerSecond,
    'an account’s ledger (1,000 requests/s)':
      busiestOf(used.objectRequests) / LIMITS.objectRequestsPerSecond,
    'the size of an account’s ledger (10 GB)':
      (perAccount * COSTS.ledgerDeviceBytes) / LIMITS.objectBytes,
  }
  return {
    devices,
    accounts,
    locations,
    kept,
    busiest,
    used,
    cells,
    inOneCell,
    inManyCells,
    cost: Object.fromEntries(cost),
    dollars: PRICES.plan + cost.reduce((total, [, each]) => total + each, 0),
  }
}

const formatShort = (value) => {
  const [unit, name] = [
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k'],
  ].find(([size]) => value >= size) ?? [1, '']
  const scaled = value / unit
  return `${scaled >= 100 || (unit === 1 && scaled >= 10) ? scaled.toFixed(0) : scaled.toPrecision(2)}${name}`
}
const formatDollars = (value) =>
  `$${value < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en')}`
const formatShare = (value) =>
  value < 0.01 ? '< 1 %' : value < 10 ? `${Math.round(value * 100)} %` : `${Math.round(value)} ×`

function formatTable(sizes) {
  const all = sizes.map(computeScale)
  const row = (name, cell) => `| ${name} | ${all.map(cell).join(' | ')} |`
  const formatFirstLimit = (shares) => {
    const [name, share] = Object.entries(shares).sort(([, a], [, b]) => b - a)[0]
    return `${name}: ${formatShare(share)}`
  }
  const largestCost = (one) => Object.entries(one.cost).sort(([, a], [, b]) => b - a)[0]
  const NAMES = {
    requests: 'requests',
    cpuMilliseconds: 'CPU',
    d1RowsRead: 'rows read',
    d1RowsWritten: 'rows written',
    d1Bytes: 'storage',
    objectRequests: 'ledger requests',
    objectGigabyteSeconds: 'ledger time',
    objectRowsWritten: 'ledger rows',
    objectBytes: 'ledger storage',
    logEvents: 'log events',
  }
  return [
    row('per month', ({ devices }) => `${devices.toLocaleString('en')} devices`),
    `|---|${all.map(() => '---:|').join('')}`,
    row('accounts', ({ accounts }) => accounts.toLocaleString('en')),
    row('requests', ({ used }) => formatShort(used.requests)),
    row('writes in the busiest second', ({ busiest }) => formatShort(busiest)),
    row('D1 rows read', ({ used }) => formatShort(used.d1RowsRead)),
    row('D1 rows written', ({ used }) => formatShort(used.d1RowsWritten)),
    row('locations kept', ({ kept }) => formatShort(kept)),
    row('D1 bytes', ({ used }) => `${formatShort(used.d1Bytes)}B`),
    row('cells', ({ cells }) => cells.toLocaleString('en')),
    row('log events', ({ used }) => formatShort(used.logEvents)),
    row('Durable Object requests', ({ used }) => formatShort(used.objectRequests)),
    row('Durable Object GB-s', ({ used }) => formatShort(used.objectGigabyteSeconds)),
    row('cost', (one) => formatDollars(one.dollars)),
    row('largest part', (one) =>
      largestCost(one)[1] === 0
        ? 'the plan itself'
        : `${NAMES[largestCost(one)[0]]}, ${formatDollars(largestCost(one)[1])}`,
    ),
    row('per device', (one) => `$${(one.dollars / one.devices).toPrecision(2)}`),
    row('first limit in one cell', ({ inOneCell }) => formatFirstLimit(inOneCell)),
    row('first limit with these cells', ({ inManyCells }) => formatFirstLimit(inManyCells)),
  ]
}

export const formatReport = () =>
  formatTable([{ devices: 1000 }, { devices: 100_000 }, { devices: 10_000_000 }]).join('\n')

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const number = { type: 'string' }
  const { values } = parseArgs({
    options: { devices: number, interval: number, accounts: number, retention: number },
  })
  const given = Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, Number(text)]),
  )
  console.log(values.devices ? formatTable([given]).join('\n') : formatReport())
}
