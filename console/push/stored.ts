/* Who turned notifications on in this browser, which several people may use one after the other. */

const NAME = 'perigee.push'

export interface Stored {
  accountId: string
  userId: string
  /** Of the subscription in the API. */
  id: string
  endpoint: string
}

export const readStored = (): Stored | null => {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? 'null') as Stored | null
  } catch {
    return null
  }
}

export const writeStored = (stored: Stored | null): void => {
  if (stored) localStorage.setItem(NAME, JSON.stringify(stored))
  else localStorage.removeItem(NAME)
}

/** Who is signed in. A key may belong to no user. */
export interface Viewer {
  accountId: string
  userId: string | null
}

/** Whether somebody else is signed in now than who turned notifications on. */
export const isOfOther = (stored: Stored, { accountId, userId }: Viewer): boolean =>
  stored.accountId !== accountId || (userId !== null && stored.userId !== userId)

interface Found {
  stored: Stored
  /** Of the browser's subscription; null where it has none. */
  endpoint: string | null
  /** Whether the subscription accepts the service's present key. */
  hasPresentKey: boolean
  listed: readonly { id: string; current: boolean }[]
}

/** What to do with the browser's subscription when the console starts. */
export type Step = 'none' | 'clear' | 'renew' | 'store' | 'end'

export const nextStep = ({ stored, endpoint, hasPresentKey, listed }: Found): Step => {
  // Permission was taken back, or the browser's data were deleted.
  if (endpoint === null) return 'clear'
  // The service worker has replaced it.
  if (endpoint !== stored.endpoint) return 'store'
  const own = listed.find(({ id }) => id === stored.id)
  // Removed in another browser, or by a new password: only its user turns it on again.
  if (!own) return 'end'
  if (!hasPresentKey) return 'renew'
  return own.current ? 'none' : 'store'
}
