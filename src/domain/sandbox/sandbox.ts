import type { AccountBudgets } from '../account/account.ts'
import { forEachChannel } from '../message/messageBudget.ts'

/* An account to try things in: simulated devices, and messages that no provider gets. */

export interface Sandbox {
  /** The account whose administrator opened it; null when the operator did. */
  of: string | null
  /** When it is erased; null once the operator keeps it. */
  erasesAt: number | null
}

/* It is stored as JSON. */

export const storeSandbox = (sandbox: Sandbox | null): string | null =>
  sandbox && JSON.stringify(sandbox)

export const parseSandbox = (stored: string | null): Sandbox | null =>
  stored === null ? null : (JSON.parse(stored) as Sandbox)

export const SANDBOX_DAYS = 30
export const SANDBOX_LICENSES = 20
/** Sandboxes that one account may have at the same time. */
export const MAX_SANDBOXES = 3

const DAY_MS = 86_400_000

/** When a sandbox that is opened now is erased. */
export const sandboxEnd = (now: number): number => now + SANDBOX_DAYS * DAY_MS

/** How long its own administrators can keep a sandbox, from its creation on. */
export const MAX_SANDBOX_DAYS = 90

/** When a sandbox is erased that its own administrators keep now: never earlier than before. */
export const extendedEnd = (erasesAt: number, creation: number, now: number): number =>
  Math.max(erasesAt, Math.min(sandboxEnd(now), creation + MAX_SANDBOX_DAYS * DAY_MS))

/** One that is imported begins anew, and is nobody's of this installation. */
export const renewSandbox = (sandbox: Sandbox | null, now: number): Sandbox | null =>
  sandbox && { of: null, erasesAt: sandbox.erasesAt === null ? null : sandboxEnd(now) }

/** Enough to try everything, and too little to be of use to anybody else. */
export const SANDBOX_BUDGETS: AccountBudgets = {
  locationsPerDay: 50_000,
  storageBytes: 100_000_000,
  maxUsers: 20,
  requestsPerMinute: 600,
  maxRetentionDays: SANDBOX_DAYS,
  maxZones: 100,
  messagesPerDay: forEachChannel(() => 1000),
}

const MARK = '[Sandbox] '

/** A name in a sandbox, which says so; others stay as they are. Marks a name once. */
export const markName = (isSandbox: boolean, name: string): string =>
  isSandbox && name !== '' && !name.startsWith(MARK) ? `${MARK}${name}` : name

/** A text of a sandbox, which says so; others stay as they are. */
export const markText = (sandbox: Sandbox | null, text: string): string =>
  markName(sandbox !== null, text)
