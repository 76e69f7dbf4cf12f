import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, rules, sweepPositions } from '../db/schema.ts'
import { type HeardRow, type MarkChange, readHeardDevices, writeMarks } from '../db/silence.ts'
import { readAll, readFirst, statement } from '../db/statement.ts'
import { base32, base32Time } from '../domain/base32.ts'
import { deviceKey, keysBeside } from '../domain/device.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import { MAX_RAISES_PER_CALL, type PendingRaise } from '../domain/pendingRaise.ts'
import { describeOccasion, type Rule } from '../domain/rule.ts'
import { judgeContact, type Return, type Silence } from '../domain/silence.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { publicOrigin } from '../notify/provider.ts'
import { type RuleRow, toRule } from '../rules/store.ts'
import { type CellRun, runPart } from './run.ts'

/* Rules about contact. Reports pay nothing for them. */

const PART = 'silence'
const PAGE = 2000
const MAX_PAGES = 20
const MAX_CALLS = 50
const MAX_RULES = 2000
const MINUTE_MS = 60_000
/** Rules and position, each page with its four writes, and the new position. */
export const MAX_SILENCE_QUERIES = 3 + MAX_PAGES * 5

interface WatchedAccount {
  id: string
  number: number
  timeZone: string
  day: string
  rules: Rule[]
}

type ContactRow = RuleRow & {
  account_id: string
  number: number
  time_zone: string
  day: string
}

const readPosition = async (db: Database): Promise<number> => {
  const found = await readFirst(
    statement<{ position: number }>(
      db,
      sql`SELECT ${sweepPositions.position} FROM ${sweepPositions}
        WHERE ${sweepPositions.part} = ${PART}`,
    ),
  )
  return found?.position ?? 0
}

/** Accounts with rules about silence, in the order of their device keys. */
const readWatched = async (db: Database): Promise<WatchedAccount[]> => {
  const rows = await readAll(
    statement<ContactRow>(
      db,
      sql`SELECT ${rules}.*, ${accounts.number}, ${accounts.timeZone}, ${accounts.day}
        FROM ${rules} INDEXED BY rules_contact
        JOIN ${accounts} ON ${accounts.id} = ${rules.accountId}
        WHERE ${rules.enabled} = 1 AND ${rules.type} IN ('silent', 'returns')
        ORDER BY ${accounts.number}, ${rules.id} LIMIT ${MAX_RULES}`,
    ),
  )
  const byAccount = Map.groupBy(rows, ({ account_id: id }) => id)
  return [...byAccount.values()].flatMap((own) => {
    const [first] = own
    const ownRules = own.map(toRule)
    if (!first || !ownRules.some(({ when }) => when.type === 'silent')) return []
    const { account_id: id, number, time_zone: timeZone, day } = first
    return [{ id, number, timeZone, day, rules: ownRules }]
  })
}

const isForAll = ({ devices, groups }: Rule): boolean => devices.length + groups.length === 0

/** The same silence always makes the same id, so that two runs raise it once. */
const deriveId = async (at: number, ...parts: (string | number)[]): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(parts.join(' ')))
  return `alr_${base32Time(at)}${base32(new Uint8Array(digest), 13)}`
}

interface Occasion {
  rule: Rule
  device: HeardRow
  at: number
  event: 'device.silent' | 'device.returned' | null
  isEventOnly: boolean
  /** What the alert's id derives from, beside its rule. */
  contact: number
}

const toRaise = async (
  { rule, device, at, event, isEventOnly, contact }: Occasion,
  origin: string,
  now: number,
): Promise<PendingRaise> => ({
  deviceId: device.id,
  alert: {
    id: await deriveId(at, rule.id, device.id, contact, event ?? ''),
    name: rule.alertName,
    text: rule.text || describeOccasion({ when: rule.when, zoneName: null, value: null }),
    dateTime: at,
  },
  emergency: rule.emergency,
  reported: null,
  notifications: now - at > rule.lateMinutes * MINUTE_MS ? [] : rule.notifications,
  origin,
  rule: {
    ruleId: rule.id,
    zoneId: null,
    cooldownMinutes: rule.cooldownMinutes,
    event,
    isEventOnly,
    lastContact: device.contact,
  },
})

const toSilence = async (
  { rule, device, at, isTold }: Silence,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const { key: deviceKeyOf, contact } = device
  const { accountId } = device as HeardRow
  const occasion = {
    rule,
    device: device as HeardRow,
    at,
    event: 'device.silent',
    contact,
  } as const
  const raise = () => toRaise({ ...occasion, isEventOnly: false }, origin, now)
  const raises = isTold ? [await raise()] : []
  return { ruleId: rule.id, deviceKey: deviceKeyOf, accountId, contact, raises }
}

/** One event, and an alert for each rule that tells of it. */
const toReturn = async (
  { rule, device: heard, before, tellers }: Return,
  origin: string,
  now: number,
): Promise<MarkChange> => {
  const device = heard as HeardRow
  const common = { device, at: device.contact, contact: before }
  const event = { ...common, rule, event: 'device.returned', isEventOnly: true } as const
  const alerts = tellers.map((teller) => ({
    ...common,
    rule: teller,
    event: null,
    isEventOnly: false,
  }))
  const raises = await Promise.all([event, ...alerts].map((each) => toRaise(each, origin, now)))
  const { key, accountId } = device
  return { ruleId: rule.id, deviceKey: key, accountId, contact: before, raises }
}

const judgePage = async (
  page: HeardRow[],
  watched: Map<string, WatchedAccount>,
  { origin, now }: { origin: string; now: number },
): Promise<{ silences: MarkChange[]; returns: MarkChange[] }> => {
  const silences: MarkChange[] = []
  const returns: MarkChange[] = []
  for (const device of page) {
    const account = watched.get(device.accountId)
    if (!account || hasEnded(device.ends, currentDay(account, now))) continue
    const { rules: own, timeZone } = account
    const found = judgeContact(device, { rules: own, timeZone, now })
    for (const silence of found.silences) silences.push(await toSilence(silence, origin, now))
    for (const back of found.returns) returns.push(await toReturn(back, origin, now))
  }
  return { silences, returns }
}

/** Hands the alerts to the ledgers. What is left over is raised by a later run. */
const handOver = async ({ env, cell }: CellRun, changes: MarkChange[]): Promise<void> => {
  let calls = 0
  for (const [account, own] of Map.groupBy(changes, ({ accountId }) => accountId)) {
    const raises = own.flatMap((change) => change.raises)
    for (let at = 0; at < raises.length && calls < MAX_CALLS; at += MAX_RAISES_PER_CALL) {
      calls++
      await runPart(PART, { cell, account }, () =>
        ledgerOf(env, account).raisePending(raises.slice(at, at + MAX_RAISES_PER_CALL)),
      )
    }
  }
}

/**
 * Looks at the devices of accounts with rules about silence, page by page. A run that may not look
 * at all of them goes on in the next minute where it ended.
 */
export const findSilence = async (run: CellRun): Promise<void> => {
  const { env, db, now, take } = run
  if (!take(3)) return
  const list = await readWatched(db)
  if (list.length === 0) return
  const watched = new Map(list.map((account) => [account.id, account]))
  const rulesOf = list.flatMap((account) => account.rules)
  const start = await readPosition(db)
  const query = {
    ranges: list.map(({ number, rules: own }): [number, number, 0 | 1] => {
      const [first, last] = keysBeside(deviceKey(number, 0))
      return [first, last, own.some(isForAll) ? 1 : 0]
    }),
    deviceIds: rulesOf.flatMap(({ devices }) => devices),
    groupIds: rulesOf.flatMap(({ groups }) => groups),
    limit: PAGE,
  }
  const origin = publicOrigin(env) ?? ''
  let after = start
  for (let pages = 0; pages < MAX_PAGES && take(5); pages++) {
    const page = await readHeardDevices(db, { ...query, after })
    const changes = await judgePage(page, watched, { origin, now })
    const all = [...changes.silences, ...changes.returns]
    if (all.length > 0) {
      await writeMarks(db, changes, now)
      await handOver(run, all)
    }
    after = page.length < PAGE ? 0 : (page.at(-1)?.key ?? 0)
    if (after === 0) break
  }
  if (after !== start)
    await db
      .insert(sweepPositions)
      .values({ part: PART, position: after })
      .onConflictDoUpdate({ target: sweepPositions.part, set: { position: after } })
}
