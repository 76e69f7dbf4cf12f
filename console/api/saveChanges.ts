import { PerigeeError } from '../../clients/typescript/src/error.ts'
import { stepsOf } from './changes.ts'
import { call, callForResponse } from './client.ts'
import type { Operations } from './operations.ts'

type Json = Record<string, unknown>

const MAX_ATTEMPTS = 5

type PathOf<Name> = Name extends `PATCH ${infer Path}` ? Path : never
type Path = PathOf<keyof Operations>
type ReplyOf<P extends Path> = Operations[`PATCH ${P}`]['reply']

interface Changes<Reply, Body> {
  params?: Record<string, string>
  /** What the form was opened with, and what is typed, which may depend on what is stored now. */
  before: Body
  after: Body | ((current: Body) => Body)
  /** The same of what is stored now. */
  read: (reply: Reply) => Body
  /** Members that are replaced as a whole. */
  whole?: (current: Body) => readonly string[]
}

/**
 * Stores what was changed in a form, and only that: what others have changed since the form was
 * opened stays, in lists too. The version is checked, and a lost race is tried again.
 */
export const saveChanges = async <P extends Path, Body extends object>(
  path: P,
  { params = {}, before, after, read, whole }: Changes<ReplyOf<P>, Body>,
): Promise<ReplyOf<P>> => {
  for (let attempts = 1; ; attempts++) {
    const response = await callForResponse(`GET ${path}`, { params })
    const reply = (await response.json()) as ReplyOf<P>
    const current = read(reply)
    const options = { whole: whole?.(current) }
    const typed = typeof after === 'function' ? after(current) : after
    const body = stepsOf(before as Json, typed as Json, current as Json, options)
    if (body.length === 0) return reply
    const headers = { 'If-Match': response.headers.get('ETag') ?? '*' }
    try {
      return (await call(`PATCH ${path}`, { params, body: body as never, headers })) as ReplyOf<P>
    } catch (error) {
      const isLost = error instanceof PerigeeError && error.status === 412
      if (!isLost || attempts >= MAX_ATTEMPTS) throw error
    }
  }
}
