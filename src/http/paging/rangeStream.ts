import { FIRST_PAGE_MS } from '../../domain/account/requestCost.ts'
import { runCostlyWork } from '../admission/costlyWork.ts'
import { acquireLongReply, FURTHER_PAGE_ROWS, streamPages } from '../admission/longReply.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'
import { type Range, type RangeSource, type Span, wholeRange } from './rangePage.ts'
import type { RowWriter } from './rowWriter.ts'

interface WholeSource<Row> extends Pick<RangeSource<Row>, 'read'> {
  /** How many rows are read first. */
  pageRows: number
  /** Says what of the span is more than one reply may have; null when it is small enough. */
  findExcess: (range: Range) => Promise<string | null>
  writer: RowWriter<Row>
}

const refuseExcess = async (excess: Promise<string | null>): Promise<void> => {
  const found = await excess
  if (found !== null)
    throw new Problem('span-too-large', {
      detail: `${found} Send \`limit\` (1 to 1000) and then each \`nextCursor\` as \`cursor\` to get them in pages, or choose a shorter span with \`from\` and \`to\`.`,
    })
}

/**
 * All rows of a span: a list when they fit into one page, else a stream. Everything that can be
 * refused is checked before the stream begins.
 */
export const readWholeRange = async <Row>(
  c: Context,
  span: Span,
  { pageRows, read, findExcess, writer }: WholeSource<Row>,
): Promise<{ rows: Row[] } | { stream: ReadableStream<Uint8Array> }> => {
  const range: Range = { ...wholeRange(span), limit: pageRows, after: null }
  const readPage = async (after: Range['after'], limit: number) => {
    const page = await read({ ...range, after, limit })
    // Also when the device is deleted while the reply is streamed, which aborts it.
    if (!page) throw new Problem('device-not-found')
    return page
  }
  const first = await runCostlyWork(c, FIRST_PAGE_MS, () => readPage(null, pageRows))
  if (!first.next) return { rows: first.rows }
  const slot = acquireLongReply(c.get('principal').accountId, c)
  try {
    await refuseExcess(findExcess(range))
  } catch (error) {
    slot.release()
    throw error
  }
  const stream = streamPages({
    first,
    readNext: ({ next }) =>
      next && { rows: FURTHER_PAGE_ROWS, read: () => readPage(next, FURTHER_PAGE_ROWS) },
    rowsOf: ({ rows }) => rows,
    writer,
    slot,
  })
  return { stream }
}
