import { presentLocation } from '../present.ts'
import { pieces, separator, type Writer } from './formats.ts'

/** The answer of a list without a next page, for a track that is thinned as a whole. */
export const json = (): Writer => {
  const comma = separator(',')
  return {
    begin: '{"success":true,"locations":[',
    page: (locations) =>
      pieces(locations, (stored) => comma() + JSON.stringify(presentLocation(stored))),
    end: () => '],"nextCursor":null}',
  }
}
