import { useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { changesOf } from '../../api/changes.ts'
import { toLocalInput } from '../../format/time.ts'
import { useLeaveGuard } from './useLeaveGuard.ts'

/* What is typed into a form, and its fields. */

/** Holds the input of a form. */
export const useInput = <T extends object>(initial: T | (() => T)) => {
  const [draft, setDraft] = useState(initial)
  const change = (changes: Partial<T>) => setDraft((before) => ({ ...before, ...changes }))
  return { draft, change }
}

export interface Draft<T> {
  draft: T
  change: (changes: Partial<T>) => void
  /** What was last stored, as it would be sent. */
  stored: T
  /** The members that differ from it. */
  changes: Partial<T>
  isDirty: boolean
  /** Takes what is typed as stored, or what is given. */
  markSaved: (saved?: T) => void
  discard: () => void
}

/** The same, and asks before it is lost. `tidy` makes what would be sent of it. */
export const useDraft = <T extends object>(
  initial: T | (() => T),
  tidy: (draft: T) => T = (draft) => draft,
): Draft<T> => {
  const [stored, setStored] = useState(initial)
  const { draft, change } = useInput(stored)
  const before = tidy(stored)
  const changes = changesOf(before, tidy(draft))
  const isDirty = Object.keys(changes).length > 0
  useLeaveGuard(isDirty)
  return {
    draft,
    change,
    stored: before,
    changes,
    isDirty,
    markSaved: (saved = draft) => setStored(saved),
    discard: () => change(stored),
  }
}

/** The members of T whose values are of type V. */
type NamesOf<T, V> = { [Name in keyof T]-?: T[Name] extends V ? Name : never }[keyof T] & string

interface BindOptions<T> {
  draft: T
  change: (changes: Partial<T>) => void
  error: PerigeeError | null
  /** The JSON Pointer of the draft in the request's body. */
  under?: string
  /** For who may read but not change. */
  disabled?: boolean
}

/**
 * Connects fields with the members of a draft: `<TextField label="…" {...bind.text('name')} />` has
 * its value, changes it, and shows what the service says about it.
 */
export const bindFields = <T extends object>({
  draft,
  change,
  error,
  under = '',
  disabled = false,
}: BindOptions<T>) => {
  const at = (name: string) => ({ pointer: `${under}/${name}`, error, disabled })
  const set = (name: string, value: unknown) => change({ [name]: value } as Partial<T>)
  return {
    text: (name: NamesOf<T, string | undefined>) => ({
      ...at(name),
      value: (draft[name] ?? '') as string,
      onInput: (value: string) => set(name, value),
    }),
    /** An empty field is null. */
    textOrNull: (name: NamesOf<T, string | null | undefined>) => ({
      ...at(name),
      value: (draft[name] ?? '') as string,
      onInput: (value: string) => set(name, value.trim() === '' ? null : value),
    }),
    number: (name: NamesOf<T, number>) => ({
      ...at(name),
      type: 'number' as const,
      value: String(draft[name]),
      onInput: (value: string) => set(name, Number(value)),
    }),
    /** An empty field is null. */
    numberOrNull: (name: NamesOf<T, number | null>) => ({
      ...at(name),
      type: 'number' as const,
      value: draft[name] === null ? '' : String(draft[name]),
      onInput: (value: string) => set(name, value === '' ? null : Number(value)),
    }),
    /** A point in time in the viewer's zone; an empty field is null. */
    instant: (name: NamesOf<T, string | null>) => ({
      ...at(name),
      type: 'datetime-local' as const,
      value: draft[name] ? toLocalInput(Date.parse(draft[name] as string)) : '',
      onInput: (local: string) => set(name, local ? new Date(local).toISOString() : null),
    }),
    choice: (name: NamesOf<T, string>) => ({
      ...at(name),
      value: draft[name] as string,
      onChange: (value: string) => set(name, value),
    }),
    choiceOrNull: (name: NamesOf<T, string | null>) => ({
      ...at(name),
      value: (draft[name] ?? '') as string,
      onChange: (value: string) => set(name, value || null),
    }),
    /** For fields that choose several values, such as `SeveralField` and `DevicePicker`. */
    several: <Name extends NamesOf<T, readonly string[]>>(name: Name) => ({
      ...at(name),
      values: draft[name],
      onChange: (values: T[Name]) => set(name, values),
    }),
    check: (name: NamesOf<T, boolean>) => ({
      isChecked: draft[name] as boolean,
      disabled,
      onChange: (value: boolean) => set(name, value),
    }),
  }
}
