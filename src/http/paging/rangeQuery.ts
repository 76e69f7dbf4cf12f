import * as z from 'zod'
import { isObject, withoutNulls } from '../../domain/text/json.ts'
import { instant } from '../contract/wire.ts'
import { MAX_ROWS, pageQuery } from './page.ts'
import type { Span } from './rangePage.ts'

/*
 * The members of a query in a POST body. Null means left out. At least one end of the span must be
 * given: it tells a query from a report.
 */

export interface QueryBody extends Span {
  kind: 'query'
  limit?: number | undefined
  cursor?: string | undefined
}

/** A member of another form of the body, which typed clients write as null. */
export const absent = z
  .null('must be left out')
  .optional()
  .meta({ description: 'Null, or left out.' })

const from = instant.meta({ description: 'The beginning of the span, included.' })
const to = instant.meta({ description: 'The end of the span, included.' })

/** The ends of a span that has a beginning. */
export const SINCE = { from, to: to.nullish() }
/** The ends of a span that has only an end. */
export const UNTIL = { from: absent, to }

export const PAGING = {
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MAX_ROWS, `must be at most ${MAX_ROWS}`)
    .nullish()
    .meta({
      description:
        'The maximum number of rows of a page. Without `limit` and `cursor` the reply has the whole span.',
    }),
  cursor: pageQuery.cursor.unwrap().nullish().meta({ description: pageQuery.cursor.description }),
}

export const OUT_OF_ORDER = { error: 'must not be after to', path: ['from'] }

interface Ends {
  from?: number | null | undefined
  to?: number | null | undefined
}

/** True also when an end is missing or not valid, which is no error of the order. */
export const isInOrder = ({ from: first, to: last }: Ends): boolean =>
  typeof first !== 'number' || typeof last !== 'number' || first <= last

export const toQuery = <Q extends object>(members: Q) => ({
  kind: 'query' as const,
  ...withoutNulls(members),
})

/** Whether a body has the member, and not null. */
export const has = (body: unknown, name: string): boolean =>
  isObject(body) && Object.hasOwn(body, name) && body[name] !== null

/** The number of rows of a page; null when the whole span is asked for. */
export const pageLimit = ({ limit, cursor }: QueryBody): number | null =>
  limit ?? (cursor === undefined ? null : MAX_ROWS)
