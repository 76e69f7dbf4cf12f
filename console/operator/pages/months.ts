/** The month of a day and those before it, newest first: `2026-11`, `2026-10`, … */
export const lastMonths = (day: string, count: number): string[] => {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.UTC(year, month - 1 - at, 1)).toISOString().slice(0, 7),
  )
}

/** The last day of a month, `2026-11-30`. */
export const lastDayOf = (month: string): string => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}

const name = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

export const monthName = (month: string): string => name.format(new Date(`${month}-01T00:00:00Z`))

/** The cursor of the next page that a reply's `Link` header names; null on the last page. */
export const nextCursorOf = ({ headers }: Response): string | null => {
  const [, cursor] = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.get('Link') ?? '') ?? []
  return cursor === undefined ? null : decodeURIComponent(cursor)
}
