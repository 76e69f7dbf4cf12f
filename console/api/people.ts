import { session } from '../session/session.ts'
import { text } from '../text/text.ts'
import { readAll } from './list.ts'
import { type Resource, useResource } from './resource.ts'
import type { Group, Source, User } from './types.ts'

/* Lists that forms choose from. They are short: an account has few users, keys and groups. */

/** Users and keys are closed to others. */
export const isAdmin = (): boolean =>
  session.can('admin') && !(session.me.value?.isConfined ?? false)

export const readUsers = (signal?: AbortSignal): Promise<User[]> =>
  readAll('GET /api/users', 'users', { signal })

export const readSources = (signal?: AbortSignal): Promise<Source[]> =>
  readAll('GET /api/sources', 'sources', { signal })

export const readGroups = (signal?: AbortSignal): Promise<Group[]> =>
  readAll('GET /api/groups', 'groups', { query: { limit: 1000 }, signal })

/** Names of users, keys and sources by their ids, as far as the viewer may know them. */
export const usePeople = (): Resource<ReadonlyMap<string, string>> =>
  useResource<ReadonlyMap<string, string>>(async (signal) => {
    if (!isAdmin()) {
      const user = session.me.value?.user
      return new Map(user ? [[user.id, user.name]] : [])
    }
    const [users, keys, sources] = await Promise.all([
      readUsers(signal),
      readAll('GET /api/account/keys', 'keys', { signal }),
      readSources(signal),
    ])
    return new Map([...users, ...keys, ...sources].map(({ id, name }) => [id, name]))
  }, [])

/** Who did something: by name, or else what it is, since nobody knows an id. */
export const nameOfActor = (names: ReadonlyMap<string, string> | null, id: string): string => {
  const kinds: Readonly<Record<string, string>> = text.names.actors
  return names?.get(id) ?? kinds[id.split('_')[0] ?? ''] ?? id
}
