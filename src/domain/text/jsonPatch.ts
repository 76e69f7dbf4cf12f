import { isObject, type JsonObject, sameJson } from './json.ts'

/* JSON Patch (RFC 6902). Libraries that we tried misread `/list/word` or throw on `/text/x`. */

export type PatchStep =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string }

type PatchOutcome =
  | { ok: true; document: unknown }
  | { ok: false; step: number; refusal: 'no-such-path' | 'test-failed' | 'too-large' }

/** All copies of a patch together, checked before each: every `copy` could double the document. */
const MAX_COPIED_LENGTH = 1_048_576

class NoSuchPath extends Error {}

/** What a path points to: a member of an object, or an index of a list. */
interface Target {
  parent: JsonObject | unknown[]
  key: string
}

const splitPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

const parseIndex = (list: unknown[], key: string, max: number): number => {
  if (key === '-') return list.length
  if (!/^(0|[1-9]\d{0,8})$/.test(key) || Number(key) > max) throw new NoSuchPath()
  return Number(key)
}

const getValue = ({ parent, key }: Target): unknown => {
  if (Array.isArray(parent)) {
    if (key === '-') throw new NoSuchPath()
    return parent[parseIndex(parent, key, parent.length - 1)]
  }
  if (!Object.hasOwn(parent, key)) throw new NoSuchPath()
  return parent[key]
}

/** The parent must exist; the key need not. */
const findTarget = (root: JsonObject, pointer: string): Target => {
  let parent: unknown = root
  let key = 'root'
  for (const token of splitPointer(pointer)) {
    parent = getValue({ parent: parent as Target['parent'], key })
    if (!Array.isArray(parent) && !isObject(parent)) throw new NoSuchPath()
    key = token
  }
  return { parent: parent as Target['parent'], key }
}

/** Defines the member: assigning `__proto__` would change the prototype instead. */
const addValue = ({ parent, key }: Target, value: unknown) => {
  if (Array.isArray(parent)) parent.splice(parseIndex(parent, key, parent.length), 0, value)
  else
    Object.defineProperty(parent, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
}

const removeValue = (target: Target): void => {
  getValue(target)
  if (Array.isArray(target.parent)) target.parent.splice(Number(target.key), 1)
  else delete target.parent[target.key]
}

const passesTest = (root: JsonObject, path: string, value: unknown): boolean => {
  try {
    return sameJson(getValue(findTarget(root, path)), value)
  } catch (error) {
    if (error instanceof NoSuchPath) return false
    throw error
  }
}

const moveValue = (root: JsonObject, from: string, path: string): void => {
  if (path.startsWith(`${from}/`)) throw new NoSuchPath()
  const value = getValue(findTarget(root, from))
  if (path === from) return
  removeValue(findTarget(root, from))
  addValue(findTarget(root, path), value)
}

type Applied = { ok: true; copied: number } | { ok: false; refusal: 'test-failed' | 'too-large' }

const DONE: Applied = { ok: true, copied: 0 }

const applyStep = (root: JsonObject, step: PatchStep, maxCopied: number): Applied => {
  switch (step.op) {
    case 'test':
      return passesTest(root, step.path, step.value) ? DONE : { ok: false, refusal: 'test-failed' }
    case 'remove':
      removeValue(findTarget(root, step.path))
      return DONE
    case 'add':
      addValue(findTarget(root, step.path), structuredClone(step.value))
      return DONE
    case 'replace': {
      const target = findTarget(root, step.path)
      removeValue(target)
      addValue(target, structuredClone(step.value))
      return DONE
    }
    case 'move':
      moveValue(root, step.from, step.path)
      return DONE
    case 'copy': {
      const value = getValue(findTarget(root, step.from))
      const copied = JSON.stringify(value).length
      if (copied > maxCopied) return { ok: false, refusal: 'too-large' }
      addValue(findTarget(root, step.path), structuredClone(value))
      return { ok: true, copied }
    }
  }
}

/** Applies all steps to a copy of the document, or none. */
export const applyJsonPatch = (document: unknown, steps: readonly PatchStep[]): PatchOutcome => {
  const root: JsonObject = { root: structuredClone(document) }
  let maxCopied = MAX_COPIED_LENGTH
  for (const [index, step] of steps.entries()) {
    try {
      const outcome = applyStep(root, step, maxCopied)
      if (!outcome.ok) return { ...outcome, step: index }
      maxCopied -= outcome.copied
    } catch (error) {
      if (error instanceof NoSuchPath) return { ok: false, step: index, refusal: 'no-such-path' }
      throw error
    }
  }
  return { ok: true, document: root.root }
}
