/** What a stored resource has beside the members that a client writes. */
export interface Resource {
  id: string
  creation: number
  lastModified: number
  version: number
}
