import { MAX_SEARCHED_ALERTS, MAX_SPAN_ALERTS } from '../domain/message/alert.ts'
import type { Context } from '../http/context.ts'
import { MAX_ROWS } from '../http/paging/page.ts'
import { type Range, type RangeQuery, rangePage, type Span } from '../http/paging/rangePage.ts'
import { pageLimit } from '../http/paging/rangeQuery.ts'
import { readWholeRange } from '../http/paging/rangeStream.ts'
import { writeJson } from '../http/paging/rowWriter.ts'
import { replyAlternate, replyStream } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import type { AlertsQueryBody, Sort } from './forms.ts'
import { countAlerts, listAlerts } from './list.ts'
import { presentAlert, type StoredAlert } from './present.ts'

interface AlertFilters {
  /** Null for the alerts of the whole account. */
  deviceId: string | null
  alertName?: string | undefined
  acknowledged?: boolean | undefined
  emergency?: boolean | undefined
  sort: Sort
}

const presentPage = (alerts: StoredAlert[], nextCursor: string | null) => ({
  success: true as const,
  alerts: alerts.map(presentAlert),
  nextCursor,
})

/** Reads pages of the alerts that pass the filters. */
const alertReader = (c: Context, filters: AlertFilters) => {
  const [db, viewer] = [c.get('db'), c.get('principal')]
  const { deviceId, alertName: name, acknowledged, emergency, sort } = filters
  return async (range: Range) => {
    const listing = { ...range, deviceId, name, acknowledged, emergency, sort }
    const page = await listAlerts(db, viewer, listing)
    return page && { rows: page.alerts, next: page.next }
  }
}

export const queryPage = async (
  c: Context,
  query: AlertFilters & RangeQuery,
  cursorPointer: string,
) => {
  const { alertName, acknowledged, emergency, sort } = query
  const flags = { acknowledged: acknowledged?.toString(), emergency: emergency?.toString() }
  const { rows, nextCursor } = await rangePage(c, query, {
    filters: { sort, alertName, ...flags },
    cursorPointer,
    read: alertReader(c, query),
  })
  return presentPage(rows, nextCursor)
}

const inWords = (count: number): string => count.toLocaleString('en')

/** A filter may match few of many alerts, so the number that is searched has a limit too. */
const findExcess = async (
  c: Context,
  { from, to }: Range,
  { deviceId, alertName: name, acknowledged, emergency }: AlertFilters,
): Promise<string | null> => {
  const span = { deviceId, from, to, name, acknowledged, emergency }
  const { searched, matching } = await countAlerts(c.get('db'), c.get('principal'), span)
  if (matching > MAX_SPAN_ALERTS)
    return `More than ${inWords(MAX_SPAN_ALERTS)} alerts of the span match.`
  if (searched > MAX_SEARCHED_ALERTS)
    return `The span has more than ${inWords(MAX_SEARCHED_ALERTS)} alerts to search.`
  return null
}

const replyWholeSpan = async (c: Context, query: AlertFilters & Span) => {
  const whole = await readWholeRange(c, query, {
    pageRows: MAX_ROWS,
    read: alertReader(c, query),
    findExcess: (range) => findExcess(c, range, query),
    writer: writeJson('alerts', presentAlert),
  })
  if ('stream' in whole) return replyStream(c, whole.stream)
  return replyAlternate(c, contract.postAlerts, presentPage(whole.rows, null))
}

/** Replies with one page, or with the whole span when neither `limit` nor `cursor` was sent. */
export const replyQuery = async (c: Context, body: AlertsQueryBody, deviceId: string) => {
  const limit = pageLimit(body)
  const query = { ...body, deviceId }
  if (limit === null) return replyWholeSpan(c, query)
  const page = await queryPage(c, { ...query, limit }, '/cursor')
  return replyAlternate(c, contract.postAlerts, page)
}
