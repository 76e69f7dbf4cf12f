const whole = (value) => Math.round(value).toLocaleString('en')

/** A table whose columns are as wide as they must be; the first is text, the others are numbers. */
function table(say, head, lines) {
  const all = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column].length)))
  const show = (line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
      )
      .join('  ')
  say(show(head))
  for (const line of lines) say(show(line).trimEnd())
  say('')
}

/** Prints what was measured and, unless only the running was tried, whether it keeps its marks. Answers how many it misses. */
export function print(
  { machine, date, seconds, sizes, rows, growth, sweep, export: exported, streams, cost },
  say,
  { marks },
) {
  let misses = 0
  const mark = (reached, text) => {
    if (!reached) misses++
    return marks ? `${text} ${reached ? '✓' : '✗'}` : text
  }
  say(`${date}, ${machine}, ${seconds} s\n`)
  if (rows) {
    const lines = rows.map(({ name, api, bare, ratio, floor, locations, leastLocations }) => [
      name,
      whole(api),
      whole(bare),
      ratio.toFixed(2),
      floor ? mark(ratio >= floor, `≥ ${floor.toFixed(2)}`) : '',
      leastLocations ? mark(locations >= leastLocations, `${whole(locations)} locations/s`) : '',
    ])
    table(say, ['requests a second', 'API', 'bare', 'ratio', 'floor', ''], lines)
  }
  if (growth) {
    const head = [
      'requests a second',
      `${whole(sizes.growth.small)} devices`,
      `${whole(sizes.growth.large)} devices`,
      'time',
      '',
    ]
    const lines = growth.map(({ name, small, large, times }) => [
      name,
      whole(small),
      whole(large),
      `${times.toFixed(2)} ×`,
      mark(times <= 1.3, '≤ 1.3'),
    ])
    table(say, head, lines)
  }
  const single = []
  if (sweep) {
    const { due, small, large, few, many, times } = sweep
    single.push([
      `sweep of ${whole(due)} due among ${whole(small)} and ${whole(large)} devices`,
      `${whole(few)} and ${whole(many)} ms: ${times.toFixed(2)} ×`,
      mark(times <= 1.5, '≤ 1.5'),
    ])
  }
  if (exported) {
    const { locations, above, again, idle, seconds: took } = exported
    single.push([
      `export of ${whole(locations)} locations`,
      `${whole(above)} MB above the ${whole(idle)} MB of a fresh runtime that is idle (a second time ${whole(again)}), ${took.toFixed(1)} s`,
      mark(above <= 64, '≤ 64'),
    ])
  }
  if (streams) {
    const { streams: count, median, slowest } = streams
    single.push([
      `an event to ${whole(count)} open streams of one account`,
      `all have heard it after ${whole(median)} ms (${whole(slowest)} at most), the request that made it included`,
      mark(median <= 1000, '≤ 1,000'),
    ])
  }
  if (cost)
    single.push([
      'a location in D1',
      `${cost.rowsWritten.toFixed(2)} rows and ${cost.bytes.toFixed(0)} bytes written; a report of one reads ${cost.rowsReadByOne} rows`,
      '',
    ])
  for (const [name, text, end] of single) say(`${name}: ${text} ${end}`.trimEnd())
  return misses
}
