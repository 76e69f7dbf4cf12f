/* Which statements are small enough to be joined with those of other requests. */

/** What a small statement reads and returns at most. */
const MAX_ROWS_READ = 1000
const MAX_RESULTS = 50
const MAX_RESULT_CHARACTERS = 16_000
/** For how long a statement goes alone that was large or failed. */
const ALONE_MS = 60_000
/** In place of a time: the statement may join. */
const MAY_JOIN = 0
const MAX_KNOWN = 1000

interface Statement {
  text: string
}

export const countText = (values: unknown[]): number => {
  let count = 0
  for (const value of values) if (typeof value === 'string') count += value.length
  return count
}

const isLarge = ({ meta, results = [] }: D1Result): boolean =>
  meta.rows_read > MAX_ROWS_READ ||
  results.length > MAX_RESULTS ||
  results.reduce<number>((sum, row) => sum + countText(Object.values(row as object)), 0) >
    MAX_RESULT_CHARACTERS

/** What is known of statements, by their texts. */
export class KnownStatements {
  /** Until when each goes alone; then its next run decides, as the first did. */
  readonly #aloneUntil = new Map<string, number>()

  /** Whether all have run and were small. */
  mayJoin(statements: Statement[]): boolean {
    return statements.every(({ text }) => this.#aloneUntil.get(text) === MAY_JOIN)
  }

  /** Learns from their results, and returns these. */
  learn(statements: Statement[], results: D1Result[]): D1Result[] {
    for (const [index, { text }] of statements.entries()) {
      const until = this.#aloneUntil.get(text)
      if (isLarge(results[index] as D1Result)) this.#set(text, Date.now() + ALONE_MS)
      else if (until === undefined || (until !== MAY_JOIN && until <= Date.now()))
        this.#set(text, MAY_JOIN)
    }
    return results
  }

  goAlone(statements: Statement[]): void {
    for (const { text } of statements) this.#set(text, Date.now() + ALONE_MS)
  }

  #set(text: string, until: number): void {
    this.#aloneUntil.delete(text)
    this.#aloneUntil.set(text, until)
    const [oldest = text] = this.#aloneUntil.keys()
    if (this.#aloneUntil.size > MAX_KNOWN) this.#aloneUntil.delete(oldest)
  }
}
