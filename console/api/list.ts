import { type CallOptions, call } from './client.ts'
import type { Operations } from './operations.ts'
import { type Page, type Pages, usePages } from './resource.ts'

/* Lists of the API, which reply page by page. */

/** The operations that list something. */
type Lists = {
  [Name in keyof Operations]: Operations[Name]['reply'] extends { nextCursor: string | null }
    ? Name
    : never
}[keyof Operations]
/** The members of a reply that may be its list. */
type Member<Name extends Lists> = Exclude<keyof Operations[Name]['reply'], 'success' | 'nextCursor'>
type Item<
  Name extends Lists,
  Key extends Member<Name>,
> = Operations[Name]['reply'][Key] extends readonly (infer T)[] ? T : never
type ListOptions = Pick<CallOptions, 'params' | 'query' | 'signal'>

/** Of lists that are read as a whole. They are short. */
const MAX_PAGES = 20

export const readPage = async <Name extends Lists, Key extends Member<Name>>(
  operation: Name,
  key: Key,
  options: ListOptions,
): Promise<Page<Item<Name, Key>>> => {
  const reply = await call(operation, options)
  return { items: reply[key] as Item<Name, Key>[], nextCursor: reply.nextCursor }
}

/** Follows the cursor to the end of a list: `readAll('GET /api/users', 'users', { signal })`. */
export const readAll = async <Name extends Lists, Key extends Member<Name>>(
  operation: Name,
  key: Key,
  { query, ...options }: ListOptions = {},
): Promise<Item<Name, Key>[]> => {
  const all: Item<Name, Key>[] = []
  let cursor: string | null = null
  for (let count = 0; count < MAX_PAGES; count++) {
    const page: Page<Item<Name, Key>> = await readPage(operation, key, {
      ...options,
      query: { ...query, cursor },
    })
    all.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return all
}

/** A list for `Table`; it is loaded again when its options change. */
export const useList = <Name extends Lists, Key extends Member<Name>>(
  operation: Name,
  key: Key,
  { params, query, version }: Pick<ListOptions, 'params' | 'query'> & { version?: unknown } = {},
): Pages<Item<Name, Key>> =>
  usePages(
    (cursor, signal) =>
      readPage(operation, key, { ...(params && { params }), query: { ...query, cursor }, signal }),
    [JSON.stringify([params, query, version])],
  )
