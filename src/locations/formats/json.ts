import { presentLocation } from '../present.ts'
import { separator, type Writer, writeChunks } from './formats.ts'

/** A page without a next one, for a simplified track. */
export const json = (): Writer => {
  const comma = separator(',')
  return {
    begin: '{"success":true,"locations":[',
    page: (locations) =>
      writeChunks(locations, (stored) => comma() + JSON.stringify(presentLocation(stored))),
    end: () => '],"nextCursor":null}',
  }
}
