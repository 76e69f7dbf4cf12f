import { hashPassword, isPassword } from '../../auth/password.ts'
import { PASSWORD_MS } from '../../domain/account/requestCost.ts'
import type { Context } from '../context.ts'
import { runCostlyWork } from './costlyWork.ts'

/** Once for a request, whose edit may be repeated: hashing is slow by design. */
const hashes = new WeakMap<Context, Promise<string>>()

export const hashOnce = async (c: Context, password: string | null): Promise<string | null> => {
  if (password === null) return null
  const hash = hashes.get(c) ?? runCostlyWork(c, PASSWORD_MS, () => hashPassword(c.env, password))
  hashes.set(c, hash)
  return hash
}

/** Whether a password is the one that this hash was made of. */
export const comparePassword = (c: Context, password: string, stored: string): Promise<boolean> =>
  runCostlyWork(c, PASSWORD_MS, () => isPassword(c.env, password, stored))
