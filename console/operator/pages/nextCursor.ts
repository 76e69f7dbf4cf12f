/** The cursor of the next page that a reply's `Link` header names; null on the last page. */
export const nextCursorOf = ({ headers }: Response): string | null => {
  const [, cursor] = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.get('Link') ?? '') ?? []
  return cursor === undefined ? null : decodeURIComponent(cursor)
}
