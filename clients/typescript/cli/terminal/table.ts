import { cutTo, toLine, widthOf } from './text.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string | number | null | undefined
  isNumber?: boolean
}

const GAP = '  '
const MIN_CUT_WIDTH = 8

/** Columns that are too wide together: the widest gives way first. */
const fit = (widths: number[], columns: number): number[] => {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width + GAP.length, -GAP.length)
  while (total() > columns) {
    const widest = Math.max(...fitted)
    if (widest <= MIN_CUT_WIDTH) break
    fitted[fitted.indexOf(widest)] = widest - 1
  }
  return fitted
}

/**
 * Lines of a table with a header. `columns` is the width of the terminal; without one nothing is
 * cut, since a program may read it.
 */
export const tableLines = <Row>(
  rows: readonly Row[],
  table: readonly Column<Row>[],
  columns?: number,
): string[] => {
  const cells = rows.map((row) => table.map(({ value }) => toLine(String(value(row) ?? ''))))
  const titles = table.map(({ title }) => title)
  const wanted = titles.map((title, index) =>
    cells.reduce((width, row) => Math.max(width, widthOf(row[index] ?? '')), widthOf(title)),
  )
  const widths = columns === undefined ? wanted : fit(wanted, columns)
  const line = (row: string[]) =>
    row
      .map((cell, index) => {
        const cut = cutTo(cell, widths[index] ?? 0)
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cut)))
        return table[index]?.isNumber ? space + cut : cut + space
      })
      .join(GAP)
      .trimEnd()
  return [line(titles), ...cells.map(line)]
}
