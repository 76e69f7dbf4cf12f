import type { JsonObject } from '../../domain/text/json.ts'

/* The versions of the API (docs/versioning.md). Handlers speak the newest one only. */

/** What a version changed, and how callers of the version before are served all the same. */
export interface Change {
  /** The ids of the operations that it changed. */
  operations: readonly string[]
  /** What changed, as a sentence for docs/versioning.md. */
  summary: string
  /** Turns a body of the version before into one of this version. */
  upgradeBody?: (body: unknown) => unknown
  /** Turns the JSON of a successful reply of this version into that of the version before. */
  downgradeReply?: (reply: JsonObject) => JsonObject
}

export interface ApiVersion {
  /** YYYY-MM-DD. */
  date: string
  changes: readonly Change[]
}

/** Oldest first. A released version is never edited; an incompatible change adds the next one. */
export const VERSIONS: [ApiVersion, ...ApiVersion[]] = [{ date: '2026-11-18', changes: [] }]

/** What an API key has that was made before keys pinned a version. */
export const FIRST_VERSION = VERSIONS[0].date
export const NEWEST_VERSION = VERSIONS.at(-1)?.date ?? FIRST_VERSION
export const VERSION_DATES = VERSIONS.map(({ date }) => date)

export const isVersion = (date: string): boolean => VERSION_DATES.includes(date)

/**
 * The version that a key pins. During a deploy it may be newer than this release knows; then the
 * newest one is the closest.
 */
export const pinnedVersion = (pinned: string | null): string => {
  if (pinned === null) return FIRST_VERSION
  return isVersion(pinned) ? pinned : NEWEST_VERSION
}

const NO_CHANGES: readonly Change[] = []

/** What later versions than this one changed in an operation, oldest first. */
export const changesAfter = (
  version: string,
  operationId: string,
  versions: readonly ApiVersion[] = VERSIONS,
): readonly Change[] => {
  if (version === versions.at(-1)?.date) return NO_CHANGES
  return versions
    .filter(({ date }) => date > version)
    .flatMap(({ changes }) => changes)
    .filter(({ operations }) => operations.includes(operationId))
}

/** A body of an older version as the newest one has it. */
export const upgradeBody = (body: unknown, changes: readonly Change[]): unknown =>
  changes.reduce((given, change) => change.upgradeBody?.(given) ?? given, body)

/** A reply of the newest version as an older one has it: the last change is undone first. */
export const downgradeReply = (reply: JsonObject, changes: readonly Change[]): JsonObject =>
  changes.reduceRight((given, change) => change.downgradeReply?.(given) ?? given, reply)
