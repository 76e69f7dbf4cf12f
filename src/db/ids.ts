import { type SQL, sql } from 'drizzle-orm'
import { ALPHABET, TIME_LENGTH } from '../domain/text/base32.ts'
import { literal } from './statement.ts'

/** `base32Time` in SQL: the characters that the id of something made at this instant begins with. */
export const base32TimeOf = (at: SQL): SQL => {
  const digits = Array.from({ length: TIME_LENGTH }, (_, index) => {
    const shift = literal(5 * (TIME_LENGTH - 1 - index))
    return sql`substr(${sql.raw(`'${ALPHABET}'`)}, 1 + ((CAST(${at} AS INTEGER) >> ${shift}) & 31), 1)`
  })
  return sql`(${sql.join(digits, sql` || `)})`
}
