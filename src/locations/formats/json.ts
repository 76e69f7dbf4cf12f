import { presentLocation } from '../present.ts'
import { separator, type Writer } from './formats.ts'

/** The answer of a list without a next page, for a track that is thinned as a whole. */
export const json = (): Writer => {
  const comma = separator(',')
  return {
    begin: '{"success":true,"locations":[',
    page: (locations) => locations.map((stored) => comma() + JSON.stringify(presentLocation(stored))).join(''),
    end: () => '],"nextCursor":null}',
  }
}
