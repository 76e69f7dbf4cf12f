import { signal } from '@preact/signals'
import { PerigeeError } from '../../clients/typescript/src/error.ts'
import { setOperator } from '../api/client.ts'
import { sendOnce } from '../api/connection.ts'
import { toError } from '../api/errors.ts'
import type { CurrentOperator, CurrentOperatorReply } from '../api/types.ts'

/*
 * Which operator is signed in. A key is kept for this tab alone (`sessionStorage`); whom Cloudflare
 * Access has signed in needs none.
 */

export type Right = CurrentOperator['rights'][number]
type Status = 'starting' | 'signed-out' | 'signed-in' | 'failed'

const NAME = 'perigee.operator'

const status = signal<Status>('starting')
const me = signal<CurrentOperator | null>(null)
const error = signal<PerigeeError | null>(null)
let key: string | null = sessionStorage.getItem(NAME)

const forget = (): void => {
  sessionStorage.removeItem(NAME)
  key = null
  status.value = 'signed-out'
}

setOperator({
  token: async () => {
    if (status.peek() === 'signed-out') throw new PerigeeError('', { status: 401 })
    return key
  },
  discardToken: forget,
})

const acceptKey = async (given: string | null): Promise<void> => {
  const headers = given === null ? {} : { Authorization: `Bearer ${given}` }
  const { response } = await sendOnce('GET', '/admin/me', { headers })
  const reply = (await response.json()) as CurrentOperatorReply
  key = given
  me.value = reply.operator
  status.value = 'signed-in'
}

export const operator = {
  status,
  me,
  /** Why it is not known who is signed in. */
  error,

  /** Continues with the key of this tab, or as the person whom Cloudflare Access has signed in. */
  async start(): Promise<void> {
    status.value = 'starting'
    try {
      await acceptKey(key)
    } catch (fault) {
      error.value = toError(fault)
      if (error.value.status === 401) forget()
      else status.value = 'failed'
    }
  },

  async signIn(given: string): Promise<void> {
    await acceptKey(given)
    sessionStorage.setItem(NAME, given)
  },

  /** Loads the page anew, so that nothing that was shown stays in memory. */
  signOut(): void {
    sessionStorage.removeItem(NAME)
    location.assign(me.peek()?.signIn === 'access' ? '/cdn-cgi/access/logout' : '/operator')
  },

  may: (right: Right): boolean => me.value?.rights.includes(right) ?? false,
}
