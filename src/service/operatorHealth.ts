import { openCell, openDirectory, withRetries } from '../db/open.ts'
import { SCHEMA_VERSION } from '../db/version.ts'
import { fullCellBytes } from '../domain/account/cell.ts'
import { findProblems } from '../domain/admin/health.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'
import { cellNumbers, type Env, readNumber } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type CellHealth, countAccounts, findFirstAccount, readCellHealth } from './store.ts'

const UNREACHABLE = {
  schema: null,
  sizeBytes: null,
  lastSweep: null,
  parts: {},
  unsentMessage: null,
  unsentEmergency: null,
  pendingAlert: null,
  outbox: null,
  webhooks: null,
}

/** The state of a cell with what is wrong; `health` is null if it does not answer. */
const describeCell = (
  { cell, accounts, maxBytes }: { cell: number; accounts: number; maxBytes: number },
  health: CellHealth | null,
  now: number,
) => {
  const found = health ?? UNREACHABLE
  const { schema, sizeBytes, lastSweep, parts } = found
  const problems = health
    ? findProblems(
        {
          isFull: health.sizeBytes >= fullCellBytes(maxBytes),
          isSchemaOld: schema !== null && schema < SCHEMA_VERSION,
          lastSweep,
          oldestPart: Math.min(...Object.values(health.parts)),
          pendingAlert: health.pendingAlert?.since ?? null,
          unsentEmergency: health.unsentEmergency?.since ?? null,
          unsentMessage: health.unsentMessage?.since ?? null,
          outbox: health.outbox?.since ?? null,
        },
        now,
      )
    : (['cell-unreachable'] as const)
  return {
    cell,
    reachable: health !== null,
    accounts,
    sizeBytes,
    share: sizeBytes === null ? null : sizeBytes / maxBytes,
    schema,
    lastSweep,
    parts,
    waiting: {
      pendingAlert: found.pendingAlert,
      unsentEmergency: found.unsentEmergency,
      unsentMessage: found.unsentMessage,
      outbox: found.outbox,
    },
    webhooks: found.webhooks,
    problems: [...problems],
  }
}
export type CellState = ReturnType<typeof describeCell>

/** A ledger that runs older code does not know the method: null. */
const readLedgerSchema = async (env: Env, accountId: string | null): Promise<number | null> =>
  accountId === null
    ? null
    : ledgerOf(env, accountId)
        .readSchemaVersion()
        .catch(() => null)

/** Asks all cells at once; one that fails is reported and keeps none of the others. */
export const collectHealth = async (env: Env, now: number) => {
  const directory = withRetries(openDirectory(env))
  const counts = await countAccounts(directory).catch(() => new Map<number, number>())
  const firstAccount = await findFirstAccount(directory).catch(() => null)
  const maxBytes = readNumber(env, 'CELL_MAX_BYTES')
  const [ledger, ...cells] = await Promise.all([
    readLedgerSchema(env, firstAccount),
    ...cellNumbers(env).map(async (cell) => {
      const health = await readCellHealth(withRetries(openCell(env, cell)), now).catch(() => null)
      return describeCell({ cell, accounts: counts.get(cell) ?? 0, maxBytes }, health, now)
    }),
  ])
  return { ledger, cells, now }
}
export type ServiceState = Awaited<ReturnType<typeof collectHealth>>

const presentOldest = (found: { since: number; accountId: string } | null) =>
  found && { since: iso(found.since), accountId: found.accountId }

const presentCell = ({ parts, waiting, webhooks, lastSweep, problems, ...rest }: CellState) => ({
  ...rest,
  lastSweep: isoOrNull(lastSweep),
  sweepParts: Object.entries(parts).map(([part, at]) => ({ part, at: isoOrNull(at || null) })),
  oldestPendingAlert: presentOldest(waiting.pendingAlert),
  oldestUnsentEmergency: presentOldest(waiting.unsentEmergency),
  oldestUnsentMessage: presentOldest(waiting.unsentMessage),
  oldestOutboxEntry: presentOldest(waiting.outbox),
  webhooksBehind: webhooks && {
    count: webhooks.count,
    since: iso(webhooks.since),
    accountId: webhooks.accountId,
  },
  problems,
})

export const presentOperatorHealth = ({ ledger, cells }: ServiceState) => ({
  success: true as const,
  status: cells.some(({ problems }) => problems.length > 0)
    ? ('degraded' as const)
    : ('ok' as const),
  schema: { expected: SCHEMA_VERSION, ledger },
  cells: cells.map(presentCell),
})
