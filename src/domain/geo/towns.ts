/* Towns with their sizes, as the file of the static assets has them. */

/** Columns instead of objects: there are thousands, which are searched for each place. */
export interface Towns {
  names: string[]
  latitudes: Float64Array
  longitudes: Float64Array
  /** Which of `SIZES` each has. */
  sizes: Uint8Array
}

/** How many people a town of each size has at least. */
export const SIZES = [0, 10_000, 100_000, 1_000_000] as const

/** The first line of the file. Without it the file is another one, such as a page of the console. */
export const TOWNS_HEADER = 'name\tlatitude\tlongitude\tsize'

export const NO_TOWNS: Towns = {
  names: [],
  latitudes: new Float64Array(),
  longitudes: new Float64Array(),
  sizes: new Uint8Array(),
}

export const parseTowns = (text: string): Towns => {
  const [header, ...lines] = text.trimEnd().split('\n')
  if (header !== TOWNS_HEADER) throw new Error('the file of towns has another header')
  const rows = lines.map((line) => line.split('\t'))
  return {
    names: rows.map(([name = '']) => name),
    latitudes: Float64Array.from(rows, ([, latitude]) => Number(latitude)),
    longitudes: Float64Array.from(rows, ([, , longitude]) => Number(longitude)),
    sizes: Uint8Array.from(rows, ([, , , size]) => Number(size)),
  }
}
