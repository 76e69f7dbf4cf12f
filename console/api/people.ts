import { session } from '../session/session.ts'
import { call } from './client.ts'
import { type Resource, useResource } from './resource.ts'
import type { Group, Key, User } from './types.ts'

/* Lists that forms choose from. They are short: an account has few users, keys and groups. */

const MAX_PAGES = 20

interface ListPage<T> {
  items: T[]
  nextCursor: string | null
}

/** Follows the cursor to the end of a list. */
export const readAll = async <T>(
  readPage: (cursor: string | null) => Promise<ListPage<T>>,
): Promise<T[]> => {
  const all: T[] = []
  let cursor: string | null = null
  for (let count = 0; count < MAX_PAGES; count++) {
    const page: ListPage<T> = await readPage(cursor)
    all.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  return all
}

/** Users and keys are closed to others. */
export const isAdmin = (): boolean =>
  session.can('admin') && !(session.me.value?.isConfined ?? false)

export const readUsers = (signal?: AbortSignal): Promise<User[]> =>
  readAll(async (cursor) => {
    const { users, nextCursor } = await call('GET /api/users', { query: { cursor }, signal })
    return { items: users, nextCursor }
  })

export const readKeys = (signal?: AbortSignal): Promise<Key[]> =>
  readAll(async (cursor) => {
    const { keys, nextCursor } = await call('GET /api/account/keys', { query: { cursor }, signal })
    return { items: keys, nextCursor }
  })

export const readGroups = (signal?: AbortSignal): Promise<Group[]> =>
  readAll(async (cursor) => {
    const { groups, nextCursor } = await call('GET /api/groups', { query: { cursor }, signal })
    return { items: groups, nextCursor }
  })

/** Names of users and keys by their ids, as far as the viewer may know them. */
export const usePeople = (): Resource<ReadonlyMap<string, string>> =>
  useResource<ReadonlyMap<string, string>>(async (signal) => {
    if (!isAdmin()) {
      const user = session.me.value?.user
      return new Map(user ? [[user.id, user.name]] : [])
    }
    const [users, keys] = await Promise.all([readUsers(signal), readKeys(signal)])
    return new Map([...users, ...keys].map(({ id, name }) => [id, name]))
  }, [])
