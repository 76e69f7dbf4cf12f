import type { Env } from '../env.ts'
import { isSignature, SIGNATURE, sign } from './signature.ts'

/** What the session cookie carries. Each refresh counts up. */
export interface SessionCookie {
  cell: number
  sessionId: string
  counter: number
}

const FORMAT = new RegExp(`^((\\d{1,6})\\.(ses_[0-9a-z]{22})\\.(\\d{1,9}))\\.(${SIGNATURE})$`)
const signedText = (text: string): string => `session cookie ${text}`

/** The same cookie always has the same text: a repeated refresh gets the same successor. */
export const writeSessionCookie = async (
  env: Env,
  { cell, sessionId, counter }: SessionCookie,
): Promise<string> => {
  const text = `${cell}.${sessionId}.${counter}`
  return `${text}.${await sign(env, signedText(text))}`
}

/** Null for a text that this service did not write. */
export const readSessionCookie = async (env: Env, value: string): Promise<SessionCookie | null> => {
  const [, text = '', cell, sessionId = '', counter, signature = ''] = FORMAT.exec(value) ?? []
  if (!(await isSignature(env, signedText(text), signature))) return null
  return { cell: Number(cell), sessionId, counter: Number(counter) }
}
