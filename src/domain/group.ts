/** What a client may write of a group: `devices` is a set of ids, so a repeat says nothing. */
export interface GroupRecord {
  name: string
  description: string
  devices: string[]
}

export interface Group extends GroupRecord {
  id: string
  creation: number
  lastModified: number
  version: number
}

export const MAX_GROUP_DEVICES = 10_000

/** What must be written so that one set becomes the other: nothing for what is in both. */
export const difference = (
  before: readonly string[],
  after: readonly string[],
): { added: string[]; removed: string[] } => {
  const [had, has] = [new Set(before), new Set(after)]
  return {
    added: [...has].filter((id) => !had.has(id)),
    removed: [...had].filter((id) => !has.has(id)),
  }
}
