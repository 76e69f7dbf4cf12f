import type { Resource } from './resource.ts'

/** The members of a group that a client can write. `devices` is a set: repeated ids count once. */
export interface GroupRecord {
  name: string
  description: string
  devices: string[]
}

export type Group = GroupRecord & Resource

export const MAX_GROUP_DEVICES = 10_000

/** The ids to add and to remove so that `before` becomes `after`. */
export const difference = (
  before: readonly string[],
  after: readonly string[],
): { added: string[]; removed: string[] } => {
  const [old, wanted] = [new Set(before), new Set(after)]
  return {
    added: [...wanted].filter((id) => !old.has(id)),
    removed: [...old].filter((id) => !wanted.has(id)),
  }
}
