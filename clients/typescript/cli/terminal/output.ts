import { type Column, tableLines } from './table.ts'
import { toLine } from './text.ts'

/** Writes to stdout and waits while its reader is slower. */
export const write = (text: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

export const writeLine = (line: string): Promise<void> => write(`${line}\n`)

export const writeJson = (value: unknown): Promise<void> => writeLine(JSON.stringify(value))

/** For people, on stderr, so that it is not in a pipe. */
export const note = (line: string): void => {
  process.stderr.write(`${toLine(line)}\n`)
}

export const writeTable = async <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> => {
  const { isTTY, columns: width } = process.stdout
  await write(`${tableLines(rows, columns, isTTY ? width : undefined).join('\n')}\n`)
}
