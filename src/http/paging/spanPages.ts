import { MAX_SPAN_LOCATIONS } from '../../domain/track/location.ts'
import { Problem } from '../contract/problem.ts'

/** Reading a page keeps the isolate and its database busy for about ten milliseconds. */
export const SPAN_PAGE_ROWS = 1000

const SPAN_EXCESS = `The span has more than ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations. Choose a shorter one with \`from\` and \`to\`.`

const SPAN_LIMIT = {
  max: MAX_SPAN_LOCATIONS,
  excess: () => new Problem('span-too-large', { detail: SPAN_EXCESS }),
}

/** Adds the further pages of a span to its first page, or refuses a span with too many locations. */
export const readFurtherPages = async <Row extends { time: number }>(
  rows: Row[],
  read: (from: number) => Promise<Row[]>,
  { max, excess } = SPAN_LIMIT,
): Promise<Row[]> => {
  for (let page = rows; page.length === SPAN_PAGE_ROWS; ) {
    page = await read((rows.at(-1)?.time ?? 0) + 1)
    rows.push(...page)
    if (rows.length > max) throw excess()
  }
  return rows
}
