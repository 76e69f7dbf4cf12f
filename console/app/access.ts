import { session } from '../session/session.ts'
import type { Access } from './routes.ts'

/** Whether who is signed in may use a page: buttons that always fail help nobody. */
export const isAllowed = ({ needs, isForWholeAccount = needs === 'admin' }: Access): boolean =>
  (needs === undefined || session.can(needs)) &&
  !(isForWholeAccount && (session.me.value?.isConfined ?? false))
