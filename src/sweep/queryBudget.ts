/** D1 allows a thousand queries per invocation. The rest is for those that are not counted. */
const MAX_QUERIES = 950
/** What a cell with nothing to do takes. */
const CELL_QUERIES = 17

/** Takes queries from a budget; false when there are not enough, and the work has to wait. */
export type TakeQueries = (count?: number) => boolean

/** How many D1 queries a run of the sweep may still make. Every statement of a batch counts. */
export class QueryBudget {
  #left = MAX_QUERIES
  #reserved = 0

  /** Keeps enough for the cells that are still to come, so that one cell cannot take it all. */
  reserveFor(cells: number): void {
    this.#reserved = cells * CELL_QUERIES
  }

  /** For one part of the work, which may take at most `max`. */
  part(max: number): TakeQueries {
    let left = max
    return (count = 1) => {
      if (left < count || this.#left - this.#reserved < count) return false
      left -= count
      this.#left -= count
      return true
    }
  }
}
