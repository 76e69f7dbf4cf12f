import { writeJson } from '../../http/paging/rowWriter.ts'
import { presentLocation } from '../present.ts'
import type { Writer } from './formats.ts'

/** The whole span, for a simplified track. */
export const json = (): Writer => writeJson('locations', presentLocation)
