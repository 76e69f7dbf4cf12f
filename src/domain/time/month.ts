/** A calendar month in UTC, `YYYY-MM`. Months compare as strings. */
export type Month = string

export const monthOf = (time: number): Month => new Date(time).toISOString().slice(0, 7)

export const monthStart = (month: Month): number => Date.parse(`${month}-01T00:00:00Z`)

/** The first instant after the month. */
export const monthEnd = (month: Month): number => {
  const start = new Date(monthStart(month))
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)
}
