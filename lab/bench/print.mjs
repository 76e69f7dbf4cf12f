const formatInteger = (value) => Math.round(value).toLocaleString('en')

/** Prints a table with columns as wide as their content: text to the left, numbers to the right. */
function printTable(print, head, lines) {
  const all = [head, ...lines]
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column].length)))
  const formatLine = (line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
      )
      .join('  ')
  print(formatLine(head))
  for (const line of lines) print(formatLine(line).trimEnd())
  print('')
}

/** Prints the report and, with thresholds, whether each is met. Returns how many are missed. */
export function printReport(
  { machine, date, seconds, delayMs, sizes, rows, growth, sweep, export: exported, streams, cost },
  { print, hasThresholds },
) {
  let missed = 0
  const threshold = (isMet, text) => {
    if (!isMet) missed++
    return hasThresholds ? `${text} ${isMet ? '✓' : '✗'}` : text
  }
  print(`${date}, ${machine}, ${seconds} s\n`)
  const compared = delayMs === undefined ? ['API', 'bare'] : ['joined', 'not']
  const tables = Map.groupBy(rows ?? [], ({ at }) =>
    at.map(({ connections }) => connections).join(),
  )
  for (const [connections, lines] of tables) {
    const head = connections
      .split(',')
      .flatMap((count) => [`at ${count}: ${compared[0]}`, compared[1], 'ratio', 'floor'])
    printTable(
      print,
      ['requests a second', ...head, ''],
      lines.map(({ name, at, locations, minLocationsPerSecond }) => [
        name,
        ...at.flatMap(({ api, bare, ratio, floor }) => [
          formatInteger(api),
          formatInteger(bare),
          ratio.toFixed(2),
          floor ? threshold(ratio >= floor, `≥ ${floor.toFixed(2)}`) : '',
        ]),
        minLocationsPerSecond
          ? threshold(locations >= minLocationsPerSecond, `${formatInteger(locations)} locations/s`)
          : '',
      ]),
    )
  }
  if (growth) {
    const head = [
      'requests a second',
      `${formatInteger(sizes.growth.small)} devices`,
      `${formatInteger(sizes.growth.large)} devices`,
      'time',
      '',
    ]
    const lines = growth.map(({ name, small, large, times }) => [
      name,
      formatInteger(small),
      formatInteger(large),
      `${times.toFixed(2)} ×`,
      threshold(times <= 1.3, '≤ 1.3'),
    ])
    printTable(print, head, lines)
  }
  const figures = []
  if (sweep) {
    const { due, small, large, few, many, times } = sweep
    figures.push([
      `sweep of ${formatInteger(due)} due among ${formatInteger(small)} ` +
        `and ${formatInteger(large)} devices`,
      `${formatInteger(few)} and ${formatInteger(many)} ms: ${times.toFixed(2)} ×`,
      threshold(times <= 1.5, '≤ 1.5'),
    ])
  }
  if (exported) {
    const { locations, above, again, idle, seconds: took } = exported
    figures.push([
      `export of ${formatInteger(locations)} locations`,
      `${formatInteger(above)} MB above the ${formatInteger(idle)} MB of an idle new runtime ` +
        `(the second time ${formatInteger(again)}), ${took.toFixed(1)} s`,
      threshold(above <= 64, '≤ 64'),
    ])
  }
  if (streams) {
    const { streams: count, median, slowest } = streams
    figures.push([
      `an event to ${formatInteger(count)} open streams of one account`,
      `received by all after ${formatInteger(median)} ms (at most ${formatInteger(slowest)}), ` +
        'including the request that caused it',
      threshold(median <= 1000, '≤ 1,000'),
    ])
  }
  if (cost)
    figures.push([
      'a location in D1',
      `${cost.rowsWritten.toFixed(2)} rows and ${cost.bytes.toFixed(0)} bytes written; a report of one reads ${cost.rowsReadByOne} rows`,
      '',
    ])
  for (const [name, text, end] of figures) print(`${name}: ${text} ${end}`.trimEnd())
  return missed
}
