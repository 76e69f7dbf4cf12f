import { session } from '../session/session.ts'
import type { Access } from './routes.ts'

/** Whether the signed-in user or key may use a page. Links to other pages are not shown. */
export const isAllowed = ({ needs, isForWholeAccount = needs === 'admin' }: Access): boolean =>
  (needs === undefined || session.can(needs)) &&
  !(isForWholeAccount && (session.me.value?.isConfined ?? false))
