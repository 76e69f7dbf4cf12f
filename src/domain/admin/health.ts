/* When a figure of the service means that somebody has to look. */

const MINUTE_MS = 60_000

/** The cron trigger runs each minute. */
export const SWEEP_LATE_MS = 3 * MINUTE_MS
/** An alert is handed to its ledger, and an emergency sent, within seconds. */
const EMERGENCY_LATE_MS = 2 * MINUTE_MS
const OUTBOX_LATE_MS = 5 * MINUTE_MS
const MESSAGE_LATE_MS = 15 * MINUTE_MS

export const isSweepOnTime = (lastSweep: number | null, now: number): boolean =>
  lastSweep !== null && now - lastSweep < SWEEP_LATE_MS

export const HEALTH_PROBLEMS = [
  'cell-unreachable',
  'cell-full',
  'schema-old',
  'sweep-late',
  'sweep-part-late',
  'alert-pending',
  'emergency-unsent',
  'message-unsent',
  'outbox-behind',
] as const
export type HealthProblem = (typeof HEALTH_PROBLEMS)[number]

/** The instants of what waits in a cell; null where nothing does. */
export interface CellFigures {
  isFull: boolean
  isSchemaOld: boolean
  lastSweep: number | null
  /** The oldest time at which a part of the sweep last succeeded. */
  oldestPart: number | null
  pendingAlert: number | null
  unsentEmergency: number | null
  unsentMessage: number | null
  outbox: number | null
}

/** A part fails now and then, and the next minute tries again. */
const PART_LATE_MS = 15 * MINUTE_MS

/** What is wrong in a cell that answers. */
export const findProblems = (cell: CellFigures, now: number): HealthProblem[] => {
  const isLate = (since: number | null, maxMs: number) => since !== null && now - since >= maxMs
  const isOnTime = isSweepOnTime(cell.lastSweep, now)
  const found: Partial<Record<HealthProblem, boolean>> = {
    'cell-full': cell.isFull,
    'schema-old': cell.isSchemaOld,
    'sweep-late': !isOnTime,
    'sweep-part-late': isOnTime && isLate(cell.oldestPart, PART_LATE_MS),
    'alert-pending': isLate(cell.pendingAlert, EMERGENCY_LATE_MS),
    'emergency-unsent': isLate(cell.unsentEmergency, EMERGENCY_LATE_MS),
    'message-unsent': isLate(cell.unsentMessage, MESSAGE_LATE_MS),
    'outbox-behind': isLate(cell.outbox, OUTBOX_LATE_MS),
  }
  return HEALTH_PROBLEMS.filter((problem) => found[problem])
}
