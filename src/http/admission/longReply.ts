import { extraCostOfWork, REQUEST_MS, workOfLocations } from '../../domain/account/requestCost.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'
import type { RowWriter } from '../paging/rowWriter.ts'
import { Admission, delay } from './admission.ts'
import { notePiece, pauseLeft, reserveStart } from './pacing.ts'
import { addExtraCost } from './rateLimit.ts'

/*
 * Replies of several pages: exports, and queries of a whole span. Each holds up to two pages, some
 * megabytes, for as long as the client takes to read it.
 */

/** A quarter of them, so that one account cannot block the others. */
const MAX_PER_ACCOUNT = 3
const longReplies = new Admission({
  limits: { max: 12, maxPerKey: MAX_PER_ACCOUNT },
  maxHeldMs: 60_000,
})
const RETRY_AFTER_SECONDS = 10

/** Reading a further page keeps the isolate and its database busy for about five milliseconds. */
export const FURTHER_PAGE_ROWS = 500

export interface NextPage<Page> {
  /** How many rows it may have. */
  rows: number
  read: () => Promise<Page>
}

export interface LongReplySlot {
  /** Reads the next page when it may, and starts the time until it counts as abandoned again. */
  readInTurn: <Page>(next: NextPage<Page>) => Promise<Page>
  release: () => void
}

const refusal = (accountId: string): Problem =>
  longReplies.countOf(accountId) < MAX_PER_ACCOUNT
    ? new Problem('unavailable', {
        detail: 'Too many long exports and queries are running. Try again later.',
      })
    : new Problem('too-many-requests', {
        detail: `The account has ${MAX_PER_ACCOUNT} long exports or queries running. Try again when one of them has ended.`,
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      })

/**
 * Throws 429 while the account has too many long replies, and 503 while the isolate has. Pages are
 * paced, and with `c` they count in the rate limit.
 */
export const acquireLongReply = (accountId: string, c?: Context): LongReplySlot => {
  const holder = {}
  /** What the pages took, and does not count yet. */
  let uncountedMs = 0
  if (!longReplies.tryAcquire(holder, accountId)) throw refusal(accountId)
  return {
    readInTurn: async ({ rows, read }) => {
      const workMs = workOfLocations(rows)
      uncountedMs += workMs
      if (c && uncountedMs >= REQUEST_MS) {
        addExtraCost(c, extraCostOfWork(uncountedMs))
        uncountedMs = 0
      }
      const now = Date.now()
      await delay(Math.max(reserveStart(accountId, workMs, now), pauseLeft(accountId, now)))
      longReplies.renewSlot(holder)
      const startedAt = Date.now()
      const page = await read()
      notePiece(accountId, workMs, Date.now() - startedAt)
      return page
    },
    release: () => void longReplies.releaseSlot(holder),
  }
}

interface Pages<Page, Row> {
  first: Page
  /** The page after this one; null after the last. */
  readNext: (page: Page) => NextPage<Page> | null
  rowsOf: (page: Page) => Row[]
  writer: RowWriter<Row>
  /** Null when the first page is the only one. */
  slot: LongReplySlot | null
}

const encoder = new TextEncoder()

/**
 * Reads each page only when the one before has been consumed, so memory does not grow with the
 * number of rows.
 */
async function* writePages<Page, Row>(pages: Pages<Page, Row>): AsyncGenerator<Uint8Array> {
  const { first, readNext, rowsOf, writer, slot } = pages
  try {
    yield encoder.encode(writer.begin)
    for (let page: Page | null = first; page; ) {
      const rows = rowsOf(page)
      if (rows.length > 0) for (const text of writer.page(rows)) yield encoder.encode(text)
      const next = readNext(page)
      page = next && (await (slot ? slot.readInTurn(next) : next.read()))
    }
    yield encoder.encode(writer.end())
  } finally {
    slot?.release()
  }
}

/**
 * Has no queue: nothing is read before the client asks. When reading a page fails, the stream fails
 * and the end is never written: the client cannot take the beginning of JSON for the whole.
 */
export const streamPages = <Page, Row>(pages: Pages<Page, Row>): ReadableStream<Uint8Array> => {
  const chunks = writePages(pages)
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (!done) return controller.enqueue(value)
        controller.close()
      },
      async cancel() {
        // A generator that never began runs no `finally`.
        pages.slot?.release()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
