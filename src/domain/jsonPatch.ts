import { isObject, type JsonObject, sameJson } from './json.ts'

/** RFC 6902. Written here because the libraries looked at take `/list/word` for an index or throw on `/text/x`. */
export type PatchStep =
  | { op: 'add'; path: string; value: unknown }
  | { op: 'replace'; path: string; value: unknown }
  | { op: 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move'; path: string; from: string }
  | { op: 'copy'; path: string; from: string }

export type PatchOutcome =
  | { ok: true; document: unknown }
  | { ok: false; step: number; refusal: 'no-such-place' | 'test-failed' | 'too-large' }

/** `copy` can double a document with every step: what it may grow to is bounded before it grows. */
const MOST_CHARACTERS = 2_097_152

class NoSuchPlace extends Error {}

interface Place {
  holder: JsonObject | unknown[]
  key: string
}

const tokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

const indexIn = (list: unknown[], key: string, most: number): number => {
  if (key === '-') return list.length
  if (!/^(0|[1-9]\d{0,8})$/.test(key) || Number(key) > most) throw new NoSuchPlace()
  return Number(key)
}

const get = ({ holder, key }: Place): unknown => {
  if (Array.isArray(holder)) {
    if (key === '-') throw new NoSuchPlace()
    return holder[indexIn(holder, key, holder.length - 1)]
  }
  if (!Object.hasOwn(holder, key)) throw new NoSuchPlace()
  return holder[key]
}

const locate = (root: JsonObject, pointer: string): Place => {
  let holder: unknown = root
  let key = 'root'
  for (const token of tokens(pointer)) {
    holder = get({ holder: holder as Place['holder'], key })
    if (!Array.isArray(holder) && !isObject(holder)) throw new NoSuchPlace()
    key = token
  }
  return { holder: holder as Place['holder'], key }
}

const put = ({ holder, key }: Place, value: unknown) => {
  if (Array.isArray(holder)) holder.splice(indexIn(holder, key, holder.length), 0, value)
  else Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}

const take = (place: Place): unknown => {
  const value = get(place)
  if (Array.isArray(place.holder)) place.holder.splice(Number(place.key), 1)
  else delete place.holder[place.key]
  return value
}

const apply = (root: JsonObject, step: PatchStep): 'done' | 'test-failed' | 'too-large' => {
  const place = locate(root, step.path)
  if (step.op === 'test') return sameJson(get(place), step.value) ? 'done' : 'test-failed'
  if (step.op === 'remove') take(place)
  else if (step.op === 'add') put(place, structuredClone(step.value))
  else if (step.op === 'replace') {
    take(place)
    put(place, structuredClone(step.value))
  } else if (step.op === 'copy') {
    if (JSON.stringify(root).length > MOST_CHARACTERS) return 'too-large'
    put(place, structuredClone(get(locate(root, step.from))))
  } else {
    if (step.path.startsWith(`${step.from}/`)) throw new NoSuchPlace()
    if (step.path !== step.from) {
      const value = take(locate(root, step.from))
      put(locate(root, step.path), value)
    }
  }
  return 'done'
}

/** All steps on a copy, or none. */
export const applyJsonPatch = (document: unknown, steps: readonly PatchStep[]): PatchOutcome => {
  const root: JsonObject = { root: structuredClone(document) }
  for (const [index, step] of steps.entries()) {
    try {
      const outcome = apply(root, step)
      if (outcome !== 'done') return { ok: false, step: index, refusal: outcome }
    } catch (error) {
      if (error instanceof NoSuchPlace) return { ok: false, step: index, refusal: 'no-such-place' }
      throw error
    }
  }
  return { ok: true, document: root.root }
}
