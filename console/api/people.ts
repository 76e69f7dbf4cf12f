import { session } from '../session/session.ts'
import { readAll } from './list.ts'
import { type Resource, useResource } from './resource.ts'
import type { Group, User } from './types.ts'

/* Lists that forms choose from. They are short: an account has few users, keys and groups. */

/** Users and keys are closed to others. */
export const isAdmin = (): boolean =>
  session.can('admin') && !(session.me.value?.isConfined ?? false)

export const readUsers = (signal?: AbortSignal): Promise<User[]> =>
  readAll('GET /api/users', 'users', { signal })

export const readGroups = (signal?: AbortSignal): Promise<Group[]> =>
  readAll('GET /api/groups', 'groups', { query: { limit: 1000 }, signal })

/** Names of users and keys by their ids, as far as the viewer may know them. */
export const usePeople = (): Resource<ReadonlyMap<string, string>> =>
  useResource<ReadonlyMap<string, string>>(async (signal) => {
    if (!isAdmin()) {
      const user = session.me.value?.user
      return new Map(user ? [[user.id, user.name]] : [])
    }
    const [users, keys] = await Promise.all([
      readUsers(signal),
      readAll('GET /api/account/keys', 'keys', { signal }),
    ])
    return new Map([...users, ...keys].map(({ id, name }) => [id, name]))
  }, [])
