/* RFC 4180. */

const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Marks text that a spreadsheet would run as a formula, and text that looks marked already. */
const escapeFormula = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** Lists and objects are JSON in one cell. */
export const csvCell = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return quote(escapeFormula(value))
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value)
}

export const csvLine = (values: readonly unknown[]): string =>
  `${values.map(csvCell).join(',')}\r\n`
