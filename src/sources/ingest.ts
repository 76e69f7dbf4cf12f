import { keptSince } from '../domain/account/account.ts'
import type { SourceItem } from '../domain/account/source.ts'
import { fold } from '../domain/text/fold.ts'
import { findFault } from '../domain/track/credible.ts'
import type { Location } from '../domain/track/location.ts'
import { pokeFeed, pokeIfSubscribed } from '../feed/stub.ts'
import type { Context } from '../http/context.ts'
import { requireOk } from '../http/contract/problem.ts'
import { storeWithinBudget } from '../ingest/budget/budget.ts'
import { assumedStates, handOverLater, handOverRaises, originOf } from '../ingest/handOver.ts'
import { findNamedDevices, type MixedReport, storeMixedReport } from '../ingest/mixedReport.ts'
import type { NamedDevice } from '../ingest/mixedStatements.ts'
import { INITIAL_STATE } from '../ingest/report.ts'
import { cancelAlerts } from './cancels.ts'
import { storeMessages } from './conversation.ts'
import { readRetentionDays } from './directory.ts'
import { judgeReports } from './quarantine/judge.ts'
import { findAgreeing, quarantineFixes } from './quarantine/quarantine.ts'
import type { Quarantined } from './quarantine/quarantineInsert.ts'
import { releaseFixes } from './quarantine/release.ts'
import { toRaise } from './raises.ts'
import { setSourceOf } from './store.ts'

/* Stores what a push has become. */

interface Group {
  identifier: string
  items: SourceItem[]
  device: NamedDevice | null
}

export interface Ingest {
  items: SourceItem[]
  now: number
  sourceId: string
  /** Of payloads that arrived before: the device may report by another source by now. */
  isReplay?: boolean
}

const groupItems = (items: SourceItem[]): Group[] => {
  const groups = new Map<string, Group>()
  for (const item of items) {
    const key = fold(item.identifier)
    const group = groups.get(key) ?? { identifier: item.identifier, items: [], device: null }
    group.items.push(item)
    groups.set(key, group)
  }
  return [...groups.values()]
}

export const viewerOf = (c: Context) => ({ accountId: c.get('principal').accountId, groupId: null })

const locationsOf = ({ items }: Group): Location[] =>
  items.flatMap((item) => (item.kind === 'location' ? [item.location] : []))

/** One fix that cannot be wrong by itself is judged while it is stored, in the same statement. */
const isSimple = (group: Group, now: number): boolean => {
  const [only, ...others] = locationsOf(group)
  const isPlain = group.items.every(({ kind }) => kind === 'location' || kind === 'none')
  return isPlain && others.length === 0 && (!only || findFault(only, now) === null)
}

const findDevices = async (c: Context, groups: Group[]): Promise<Group[]> => {
  const named = groups.map(({ identifier }) => ({ deviceId: null, identifier }))
  const found = await findNamedDevices(c.get('db'), viewerOf(c), named)
  const byGroup = new Map(found.map((device) => [device.report, device]))
  return groups.map((group, at) => ({ ...group, device: byGroup.get(at) ?? null }))
}

type StoreOptions = Pick<MixedReport, 'raisesBy' | 'isJudged' | 'now' | 'alsoRun'> & {
  /** No budget holds back the push, which has an alert or a cancellation. */
  mayExceedBudget?: boolean
}

/** A used-up budget refuses the whole push, so one with any of these must not wait for it. */
const isUrgent = ({ kind }: SourceItem): boolean => kind === 'alert' || kind === 'cancel'

/** Stores reports, with the budget's permission unless they are urgent or have no locations. */
export const storeReports = async (
  c: Context,
  reports: { group: Pick<Group, 'identifier' | 'device'>; locations: Location[] }[],
  { mayExceedBudget = false, ...options }: StoreOptions,
) => {
  const viewer = viewerOf(c)
  const run = async () =>
    storeMixedReport(c.get('db'), {
      viewer,
      reports: await Promise.all(
        reports.map(async ({ group, locations }) => ({
          deviceId: group.device?.id ?? null,
          identifier: group.device ? null : group.identifier,
          eventId: await c.get('newId')('evt'),
          locations,
        })),
      ),
      assumed: assumedStates.get(viewer.accountId) ?? INITIAL_STATE,
      origin: originOf(c),
      ...options,
    })
  const sent = reports.flatMap(({ locations }) => locations)
  const isFree = mayExceedBudget || options.raisesBy !== null || sent.length === 0
  const outcome = requireOk(isFree ? await run() : await storeWithinBudget(c, sent, run))
  assumedStates.set(viewer.accountId, outcome.actual)
  handOverLater(c, outcome.hits)
  await handOverRaises(c, outcome.raises)
  if (outcome.actual.hasSubscribers && outcome.counts.accepted > 0)
    c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return outcome
}

/** Three fixes in a row that agree with each other: then it was the accepted one that was wrong. */
export const releaseAgreeing = async (c: Context, fixes: Quarantined[]): Promise<void> => {
  const fast = fixes.filter(({ reason }) => reason === 'speed')
  for (const device of new Map(fast.map((fix) => [fix.device.key, fix.device])).values()) {
    const ids = await findAgreeing(c.get('db'), device)
    if (ids.length > 0) await releaseFixes(c, device, ids)
  }
}

/** Stores what has to be judged exactly, or comes with alerts and messages. */
const ingestCarefully = async (c: Context, groups: Group[], { items, now }: Ingest) => {
  const { accountId } = c.get('principal')
  const judged = await judgeReports(
    c.get('db'),
    accountId,
    groups.map((group) => ({
      deviceId: group.device?.id ?? '',
      fixes: locationsOf(group).map((location) => ({ location, receivedAt: now })),
    })),
  )
  const alerts = groups.flatMap(({ items, device }) =>
    items.flatMap((item) => (item.kind === 'alert' && device ? [{ item, device }] : [])),
  )
  // Read only with an alert, which is rare.
  const retentionDays = alerts.length > 0 ? await readRetentionDays(c.get('db'), accountId) : 0
  const oldest = keptSince(now, retentionDays)
  const context = { origin: originOf(c), now, receivedAt: now, keptSince: oldest }
  const outcome = await storeReports(
    c,
    groups.map((group, at) => ({ group, locations: judged[at]?.accepted ?? [] })),
    {
      isJudged: false,
      now,
      mayExceedBudget: items.some(isUrgent),
      raisesBy:
        alerts.length === 0
          ? null
          : (emergency) =>
              Promise.all(
                alerts.map(({ item, device }) => toRaise(item, device, emergency, context)),
              ),
    },
  )
  const quarantined = judged.flatMap((one) => one.quarantined)
  await quarantineFixes(c.get('db'), accountId, quarantined)
  await releaseAgreeing(c, quarantined)
  await storeMessages(c.get('db'), accountId, groups, now)
  await cancelAlerts(c, groups, now)
  return outcome
}

/** Notes by which source a device reports, when that has changed: commands go the same way. */
const noteSource = async (
  c: Context,
  devices: (NamedDevice | null)[],
  { sourceId, isReplay = false }: Ingest,
): Promise<void> => {
  const changed = devices.flatMap((device) => {
    if (!device || device.source_id === sourceId) return []
    return isReplay && device.source_id !== null ? [] : [device.key]
  })
  if (changed.length > 0) await setSourceOf(c.get('db'), changed, sourceId)
}

/**
 * Stores all items of known identifiers, and returns those of others. When it returns, everything
 * is durable; when it throws, a repeat stores what is missing.
 */
export const ingest = async (c: Context, given: Ingest): Promise<SourceItem[]> => {
  const { items, now } = given
  const groups = groupItems(items)
  if (groups.length === 0) return []
  const simple = groups.filter((group) => isSimple(group, now))
  const others = groups.filter((group) => !simple.includes(group))
  const unknown: Group[] = []
  const held: Group[] = []
  if (simple.length > 0) {
    const reports = simple.map((group) => ({ group, locations: locationsOf(group) }))
    const { statuses, devices } = await storeReports(c, reports, {
      raisesBy: null,
      isJudged: true,
      now,
      mayExceedBudget: items.some(isUrgent),
    })
    await noteSource(c, devices, given)
    const byReport = new Map(devices.map((device) => [device.report, device]))
    for (const [at, group] of simple.entries()) {
      const device = byReport.get(at) ?? null
      if (!device) unknown.push(group)
      else if (statuses[at]?.includes('held')) held.push({ ...group, device })
    }
  }
  const found = others.length > 0 ? await findDevices(c, others) : []
  unknown.push(...found.filter(({ device }) => !device))
  const careful = [...held, ...found.filter(({ device }) => device)]
  if (careful.length > 0) await ingestCarefully(c, careful, given)
  await noteSource(
    c,
    found.map(({ device }) => device),
    given,
  )
  // Messages have events too, whether or not anyone wants locations.
  if (careful.length > 0) c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
  return unknown.flatMap((group) => group.items)
}
