import { signal } from '@preact/signals'
import { session } from '../session/session.ts'
import { readAll } from './list.ts'
import type { Rule, Zone } from './types.ts'

/* Zones and rules. Both lists are short, and closed to users who see one group only. */

export const canSeeRules = (): boolean => !(session.me.value?.isConfined ?? false)
export const canEditRules = (): boolean => session.can('write') && canSeeRules()

export const readZones = (signal?: AbortSignal): Promise<Zone[]> =>
  readAll('GET /api/zones', 'zones', { signal })

export const readRules = (signal?: AbortSignal): Promise<Rule[]> =>
  readAll('GET /api/rules', 'rules', { signal })

/** The zones that a rule names. */
export const zoneIdsOf = ({ when }: Rule): readonly string[] =>
  ('zones' in when && when.zones) || []

/** Replaces members. A merge patch would mix the members of two shapes or conditions. */
export const replacePatch = (changes: object) =>
  Object.entries(changes).map(([name, value]) => ({
    op: 'replace' as const,
    path: `/${name}`,
    value,
  }))

const MAX_AGE_MS = 60_000

/** Names by id; null for what was deleted. */
type Names = ReadonlyMap<string, string | null>

/** Names that other pages mention by their ids. The whole list is read for an id that is new, and
 * again after a minute, since names change. */
const nameCache = (read: () => Promise<readonly { id: string; name: string }[]>) => {
  const names = signal<Names>(new Map())
  const asked = new Set<string>()
  let isScheduled = false
  let loadedAt = 0
  const load = async () => {
    isScheduled = false
    loadedAt = Date.now()
    const ids = [...asked]
    const found = await read()
    names.value = new Map([
      ...ids.map((id) => [id, null] as const),
      ...found.map(({ id, name }) => [id, name] as const),
    ])
  }
  return (id: string): string | null | undefined => {
    const isKnown = names.value.has(id) || asked.has(id)
    asked.add(id)
    if (!(isKnown && Date.now() - loadedAt < MAX_AGE_MS) && !isScheduled && canSeeRules()) {
      isScheduled = true
      // Without an answer the page shows the id.
      setTimeout(() => void load().catch(() => undefined))
    }
    return names.value.get(id)
  }
}

/** Undefined until it is loaded, or where the viewer may not know it. */
export const ruleName = nameCache(readRules)
export const zoneName = nameCache(readZones)
