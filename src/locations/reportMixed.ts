import { pokeFeed } from '../feed/stub.ts'
import type { Context } from '../http/context.ts'
import { requireOk } from '../http/contract/problem.ts'
import { storeWithinBudget } from '../ingest/budget/budget.ts'
import { groupByDevice } from '../ingest/groupByDevice.ts'
import { assumedStates, handOverLater, handOverRaises, originOf } from '../ingest/handOver.ts'
import type { MixedStatus } from '../ingest/mixedOutcome.ts'
import { raisesOfReports } from '../ingest/mixedRaises.ts'
import { storeMixedReport } from '../ingest/mixedReport.ts'
import { INITIAL_STATE } from '../ingest/report.ts'
import type { AddressedLocation } from './forms.ts'

const REFUSALS = { unknown: 'device-not-found', refused: 'device-expired' } as const

/** Names what was not accepted, by its position in the report. */
const presentStatuses = (statuses: MixedStatus[]) => {
  const count = (status: MixedStatus) => statuses.filter((one) => one === status).length
  return {
    accepted: count('accepted'),
    duplicates: count('duplicate'),
    conflicts: count('conflict'),
    tooOld: count('tooOld'),
    unknown: count('unknown'),
    refused: count('refused'),
    results: statuses.flatMap((status, index) => {
      if (status === 'accepted' || status === 'held') return []
      const code = status === 'unknown' || status === 'refused' ? REFUSALS[status] : undefined
      return [{ index, status, ...(code && { code }) }]
    }),
  }
}

export const reportMixed = async (c: Context, sent: AddressedLocation[]) => {
  const { accountId, groupId } = c.get('principal')
  const viewer = { accountId, groupId }
  const { reports, places } = await groupByDevice(sent, () => c.get('newId')('evt'))
  const raisesBy = await raisesOfReports(c.get('db'), viewer, reports, originOf(c))
  const outcome = await storeWithinBudget(
    c,
    sent.map(({ location }) => location),
    () =>
      storeMixedReport(c.get('db'), {
        viewer,
        reports,
        raisesBy,
        isJudged: false,
        assumed: assumedStates.get(accountId) ?? INITIAL_STATE,
        origin: originOf(c),
        now: Date.now(),
      }),
  )
  const { statuses, counts, actual, raises, hits } = requireOk(outcome)
  assumedStates.set(accountId, actual)
  handOverLater(c, hits)
  await handOverRaises(c, raises)
  if (actual.hasSubscribers && counts.accepted > 0)
    c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return presentStatuses(places.map(([report, at]) => statuses[report]?.[at] ?? 'unknown'))
}
