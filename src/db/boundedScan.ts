/**
 * A page of a walk through more rows than it shows, and the last row that was walked. Both are read at one moment: rows that come or
 * go in between would be shown twice, or never. Where the walk is long (5,000 rows), a full page, which has no need of its end, comes first.
 */
export const readScan = async <R, E>(
  db: D1Database,
  { rows, end, isLong }: { rows: D1PreparedStatement; end: D1PreparedStatement; isLong: boolean },
  limit: number,
): Promise<{ found: R[]; end: E | undefined }> => {
  const first = isLong ? (await rows.all<R>()).results : []
  if (first.length > limit) return { found: first, end: undefined }
  const [page, ends] = await db.batch([rows, end])
  return { found: (page?.results ?? []) as R[], end: ends?.results[0] as E | undefined }
}
