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

/** `copy` can double a document with every step: what all copies add up to is bounded, before they are made. */
const MAX_COPIED = 1_048_576

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
  else
    Object.defineProperty(holder, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
}

const take = (place: Place): unknown => {
  const value = get(place)
  if (Array.isArray(place.holder)) place.holder.splice(Number(place.key), 1)
  else delete place.holder[place.key]
  return value
}

/** What a `test` finds, or nothing that any value equals. */
const tested = (root: JsonObject, path: string): unknown => {
  try {
    return get(locate(root, path))
  } catch (error) {
    if (error instanceof NoSuchPlace) return NoSuchPlace
    throw error
  }
}

const move = (root: JsonObject, from: string, path: string): void => {
  if (path.startsWith(`${from}/`)) throw new NoSuchPlace()
  const value = get(locate(root, from))
  if (path === from) return
  take(locate(root, from))
  put(locate(root, path), value)
}

type Applied = { ok: true; copied: number } | { ok: false; refusal: 'test-failed' | 'too-large' }

const DONE: Applied = { ok: true, copied: 0 }

const apply = (root: JsonObject, step: PatchStep, mayCopy: number): Applied => {
  switch (step.op) {
    case 'test':
      return sameJson(tested(root, step.path), step.value)
        ? DONE
        : { ok: false, refusal: 'test-failed' }
    case 'remove':
      take(locate(root, step.path))
      return DONE
    case 'add':
      put(locate(root, step.path), structuredClone(step.value))
      return DONE
    case 'replace': {
      const place = locate(root, step.path)
      take(place)
      put(place, structuredClone(step.value))
      return DONE
    }
    case 'move':
      move(root, step.from, step.path)
      return DONE
    case 'copy': {
      const value = get(locate(root, step.from))
      const copied = JSON.stringify(value).length
      if (copied > mayCopy) return { ok: false, refusal: 'too-large' }
      put(locate(root, step.path), structuredClone(value))
      return { ok: true, copied }
    }
  }
}

/** All steps on a copy, or none. */
export const applyJsonPatch = (document: unknown, steps: readonly PatchStep[]): PatchOutcome => {
  const root: JsonObject = { root: structuredClone(document) }
  let mayCopy = MAX_COPIED
  for (const [index, step] of steps.entries()) {
    try {
      const outcome = apply(root, step, mayCopy)
      if (!outcome.ok) return { ...outcome, step: index }
      mayCopy -= outcome.copied
    } catch (error) {
      if (error instanceof NoSuchPlace) return { ok: false, step: index, refusal: 'no-such-place' }
      throw error
    }
  }
  return { ok: true, document: root.root }
}
