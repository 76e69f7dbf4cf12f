import { Hono } from 'hono'
import { allows } from '../domain/account/scope.ts'
import { MAX_SEARCHED_ALERTS, MAX_SPAN_ALERTS } from '../domain/message/alert.ts'
import { summarizeDrill } from '../domain/message/drill.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { MAX_ROWS } from '../http/paging/page.ts'
import { type Range, type RangeQuery, rangePage, type Span } from '../http/paging/rangePage.ts'
import { pageLimit, type QueryBody } from '../http/paging/rangeQuery.ts'
import { readWholeRange } from '../http/paging/rangeStream.ts'
import { writeJson } from '../http/paging/rowWriter.ts'
import { reply, replyAlternate, replyStream, replyWithEtag } from '../http/reply/reply.ts'
import { providerFor } from '../notify/providers.ts'
import { loadDescriber } from '../places/store.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import type { AlertsQueryBody } from './forms.ts'
import { countAlerts, listAlerts } from './list.ts'
import { presentAlert, presentSingle, type StoredAlert, versionOf, warningFor } from './present.ts'
import { raiseAlert } from './raise.ts'
import { requireAlert, takeStep } from './steps.ts'

/** `deviceId` is null for the alerts of the whole account. */
type AlertFilters = Omit<AlertsQueryBody, keyof QueryBody> & { deviceId: string | null }

const presentPage = (alerts: StoredAlert[], nextCursor: string | null) => ({
  success: true as const,
  alerts: alerts.map(presentAlert),
  nextCursor,
})

/** Reads pages of the alerts that pass the filters. */
const alertReader =
  (c: Context, { alertName: name, ...filters }: AlertFilters) =>
  async (range: Range) => {
    const listing = { ...filters, ...range, name }
    const page = await listAlerts(c.get('db'), c.get('principal'), listing)
    return page && { rows: page.alerts, next: page.next }
  }

const queryPage = async (c: Context, query: AlertFilters & RangeQuery, cursorPointer: string) => {
  const { alertName, acknowledged, emergency, state, sort } = query
  const flags = { acknowledged: acknowledged?.toString(), emergency: emergency?.toString() }
  const { rows, nextCursor } = await rangePage(c, query, {
    filters: { sort, alertName, state, ...flags },
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
  { deviceId, alertName: name, acknowledged, emergency, state }: AlertFilters,
): Promise<string | null> => {
  const span = { deviceId, from, to, name, acknowledged, emergency, state }
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
const replyQuery = async (c: Context, body: AlertsQueryBody, deviceId: string) => {
  const limit = pageLimit(body)
  const query = { ...body, deviceId }
  if (limit === null) return replyWholeSpan(c, query)
  const page = await queryPage(c, { ...query, limit }, '/cursor')
  return replyAlternate(c, contract.postAlerts, page)
}

/** A token with `ingest` alone makes no emergencies of its own naming: each may cost SMS. */
const canDeclareEmergency = (c: Context): boolean => allows(c.get('principal').scopes, 'write')

/** What a drill has shown so far. */
const readDrill = ({ env }: Context, { receivedAt, dateTime, deliveries }: StoredAlert) =>
  summarizeDrill(receivedAt ?? dateTime, deliveries, (channel) =>
    providerFor(env, channel).givesReceipts(env),
  )

/** The device's last location has no words yet, unlike the places of the alert itself. */
const describeNewest = async (c: Context, alert: StoredAlert): Promise<StoredAlert> => {
  const { newest } = alert
  if (newest?.source !== 'location') return alert
  const describe = await loadDescriber(c.env.ASSETS, c.get('db'), c.get('principal'))
  return { ...alert, newest: describe(newest) }
}

const replySingle = async (
  c: Context,
  of: typeof contract.readAlert | ReturnType<typeof contractOf>,
  stored: StoredAlert,
) => {
  const alert = await describeNewest(c, stored)
  const shown = { ...presentSingle(alert), ...(alert.test && { drill: readDrill(c, alert) }) }
  const single = { success: true as const, alert: shown }
  return replyWithEtag(c, of, single, { version: versionOf(alert) })
}

const contractOf = (action: AlertAction) => STEPS[action]
const STEPS = {
  acknowledge: contract.acknowledgeAlert,
  resolve: contract.resolveAlert,
  cancel: contract.cancelAlert,
  reopen: contract.reopenAlert,
  note: contract.noteAlert,
}
type AlertAction = keyof typeof STEPS

const replyStep = async (c: Context, action: AlertAction, note: string | null = null) => {
  const id = c.req.param('alertId') ?? ''
  return replySingle(c, contractOf(action), await takeStep(requestContext(c), id, action, note))
}

export const deviceAlerts = new Hono<AppEnv>()
  .post('/:deviceId/alerts', operation(contract.postAlerts), async (c) => {
    const body = c.req.valid('json')
    const deviceId = c.req.param('deviceId')
    if (body.kind === 'query') return replyQuery(c, body, deviceId)
    const { alert, undelivered, recipientsOmitted } = await raiseAlert(
      requestContext(c),
      deviceId,
      {
        ...body.alert,
        emergency: body.alert.emergency && canDeclareEmergency(c),
      },
    )
    const raised = {
      success: true as const,
      alert: presentAlert(alert),
      ...(recipientsOmitted > 0 && { recipientsOmitted }),
      ...warningFor(alert, undelivered),
    }
    const version = versionOf(alert)
    const location = `/api/alerts/${alert.id}`
    return replyWithEtag(c, contract.postAlerts, raised, { version, location })
  })
  .get('/:deviceId/alerts', operation(contract.listDeviceAlerts), async (c) => {
    const query = { ...c.req.valid('query'), deviceId: c.req.param('deviceId') }
    return reply(c, contract.listDeviceAlerts, await queryPage(c, query, '#/query/cursor'))
  })

export const alerts = new Hono<AppEnv>()
  .get('/', operation(contract.listAlerts), async (c) => {
    const query = { ...c.req.valid('query'), deviceId: null }
    return reply(c, contract.listAlerts, await queryPage(c, query, '#/query/cursor'))
  })
  .get('/:alertId', operation(contract.readAlert), async (c) => {
    const alert = await requireAlert(requestContext(c), c.req.param('alertId'))
    return replySingle(c, contract.readAlert, alert)
  })
  .post('/:alertId/acknowledge', operation(contract.acknowledgeAlert), (c) =>
    replyStep(c, 'acknowledge'),
  )
  .post('/:alertId/resolve', operation(contract.resolveAlert), (c) =>
    replyStep(c, 'resolve', c.req.valid('json').note),
  )
  .post('/:alertId/cancel', operation(contract.cancelAlert), (c) =>
    replyStep(c, 'cancel', c.req.valid('json').note),
  )
  .post('/:alertId/reopen', operation(contract.reopenAlert), (c) =>
    replyStep(c, 'reopen', c.req.valid('json').note),
  )
  .post('/:alertId/notes', operation(contract.noteAlert), (c) =>
    replyStep(c, 'note', c.req.valid('json').text),
  )
