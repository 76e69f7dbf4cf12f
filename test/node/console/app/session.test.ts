import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load } from '../support/load.ts'

interface Session {
  status: { value: string }
  me: { value: { account: object } | null }
  start: () => Promise<void>
  token: () => Promise<string>
  signInByPassword: (account: string, email: string, password: string) => Promise<void>
  signInByKey: (userName: string, apiKey: string) => Promise<void>
  signOut: (everywhere?: boolean) => Promise<void>
  reload: () => Promise<void>
  openSupport: (reply: { token: string; expires: string }) => void
  supportUntil: { value: string | null }
  updateAccount: (account: { name: string; timeZone: string }) => void
}

interface Remembered {
  readRemembered: () => { account: string; email: string }
}

/** The same token for the same user: the tests compare them. */
const tokenOf = (account: string, user: string | null): string =>
  `e30.${btoa(JSON.stringify({ sub: account, user, iat: 0 })).replaceAll('=', '')}.x`

const json = (body: object, status = 200) => Response.json(body, { status })
const problem = (status: number) => json({ success: false, detail: 'No.' }, status)

describe('a session', () => {
  let session: Session
  const replies = new Map<string, () => Response>()
  const kept = new Map<string, string>()
  const tab = new Map<string, string>()
  const assign = vi.fn()
  const clearTab = vi.fn()
  type Handler = (event: { key: string; newValue: string | null }) => void
  let onStorage: Handler = () => undefined

  /** The clock of the service has begun in 1970: that of this computer is far ahead. */
  const issue = (account: string, user: string | null, seconds = 3600) =>
    json({ token: tokenOf(account, user), expires: new Date(seconds * 1000).toISOString() })
  const signIn = async (seconds?: number) => {
    replies.set('/api/Auth/SignIn', () => issue('acc_1', 'usr_1', seconds))
    replies.set('/api/me', () =>
      json({
        account: { id: 'acc_1', userName: 'a', name: 'A', timeZone: 'UTC' },
        user: { id: 'usr_1', groupId: null },
        scopes: ['admin'],
      }),
    )
    await session.signInByPassword('a', 'a@example.com', 'secret')
  }

  beforeEach(async () => {
    replies.clear()
    assign.mockReset()
    kept.clear()
    tab.clear()
    kept.set('perigee.signed-in', '1')
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
      removeItem: (name: string) => kept.delete(name),
    })
    vi.stubGlobal('sessionStorage', {
      getItem: (name: string) => tab.get(name) ?? null,
      setItem: (name: string, value: string) => tab.set(name, value),
      removeItem: (name: string) => tab.delete(name),
      clear: clearTab,
    })
    vi.stubGlobal('addEventListener', (type: string, handler: Handler) => {
      if (type === 'storage') onStorage = handler
    })
    vi.stubGlobal('location', { pathname: '/', search: '', assign })
    vi.stubGlobal('fetch', async (path: string) => replies.get(path)?.() ?? problem(404))
    session = (await load<{ session: Session }>('session/session.ts')).session
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test('never goes on as another account that signed in in another tab', async () => {
    await signIn(0)
    replies.set('/api/Auth/Refresh', () => issue('acc_2', 'usr_2'))
    const token = session.token()
    await vi.waitFor(() => expect(session.status.value).toBe('expired'))

    // Whoever signs in again goes on with the page as it was.
    await signIn()
    expect(await token).toBe(tokenOf('acc_1', 'usr_1'))
    expect(session.status.value).toBe('signed-in')
  })

  test('is not renewed with every call, however far the clock is ahead', async () => {
    await signIn()
    replies.set('/api/Auth/Refresh', () => problem(500))
    expect(await session.token()).toBe(tokenOf('acc_1', 'usr_1'))
  })

  test('is renewed by the cookie', async () => {
    await signIn(0)
    replies.set('/api/Auth/Refresh', () => issue('acc_1', 'usr_1'))
    expect(await session.token()).toBe(tokenOf('acc_1', 'usr_1'))
    expect(session.status.value).toBe('signed-in')
  })

  test('of support has its token alone, and goes back to the operator’s pages', async () => {
    const reply = { token: tokenOf('acc_1', null), expires: new Date(3_600_000).toISOString() }
    session.openSupport(reply)
    expect(assign).toHaveBeenCalledExactlyOnceWith('/')
    replies.set('/api/me', () =>
      json({ account: { id: 'acc_1', name: 'A' }, user: null, key: null, scopes: ['read'] }),
    )
    // The browser may be signed in as somebody else, too: that session is not used.
    replies.set('/api/Auth/Refresh', () => issue('acc_2', 'usr_2'))
    await session.start()
    expect(session.status.value).toBe('signed-in')
    expect(session.supportUntil.value).toBe(reply.expires)
    expect(await session.token()).toBe(reply.token)
    await session.signOut()
    expect(assign).toHaveBeenLastCalledWith('/operator/accounts/acc_1')
    expect(tab.size).toBe(0)
    expect(clearTab).not.toHaveBeenCalled()
  })

  test('of support that has ended is not continued', async () => {
    session.openSupport({ token: tokenOf('acc_1', null), expires: new Date(0).toISOString() })
    replies.set('/api/me', () => problem(401))
    await session.start()
    expect(assign).toHaveBeenLastCalledWith('/operator/accounts/')
    expect(tab.size).toBe(0)
    expect(kept.has('perigee.signed-in')).toBe(true)
  })

  test('reads the status of its account again', async () => {
    await signIn()
    replies.set('/api/me', () =>
      json({ account: { id: 'acc_1', status: 'readOnly' }, user: { id: 'usr_1' }, scopes: [] }),
    )
    await session.reload()
    expect(session.me.value?.account).toEqual({ id: 'acc_1', status: 'readOnly' })
    replies.set('/api/me', () => problem(500))
    await session.reload()
    expect(session.me.value?.account).toEqual({ id: 'acc_1', status: 'readOnly' })
  })

  test('that has ended already is signed out without an error', async () => {
    await signIn()
    replies.set('/api/Auth/SignOut', () => problem(401))
    await session.signOut()
    expect(assign).toHaveBeenCalledExactlyOnceWith('/')
    expect(clearTab).toHaveBeenCalledOnce()
    await expect(session.signOut(true)).rejects.toThrow('No.')
  })

  test('that is signed out ends the notifications of this browser', async () => {
    const unsubscribe = vi.fn(async () => true)
    const pushManager = { getSubscription: async () => ({ unsubscribe }) }
    vi.stubGlobal('navigator', {
      serviceWorker: { getRegistration: async () => ({ pushManager }) },
    })
    kept.set('perigee.push', '{}')
    await signIn()
    await expect(session.signOut()).rejects.toThrow('No.')
    expect(unsubscribe).not.toHaveBeenCalled()
    replies.set('/api/Auth/SignOut', () => json({ success: true }))
    await session.signOut()
    expect(unsubscribe).toHaveBeenCalledOnce()
    expect(kept.has('perigee.push')).toBe(false)
    expect(assign).toHaveBeenCalledExactlyOnceWith('/')
  })

  test('waits for a busy service instead of asking for the password', async () => {
    vi.useFakeTimers()
    replies.set('/api/Auth/Refresh', () => problem(503))
    await session.start()
    expect(session.status.value).toBe('starting')
    await signIn()
    replies.set('/api/Auth/Refresh', () => issue('acc_1', 'usr_1'))
    await vi.advanceTimersByTimeAsync(3000)
    expect(session.status.value).toBe('signed-in')
  })

  describe('after a sign-in in another tab', () => {
    const signInElsewhere = () => onStorage({ key: 'perigee.signed-in', newValue: '2' })
    const expire = async () => {
      await signIn(0)
      replies.set('/api/Auth/Refresh', () => problem(401))
      const token = session.token()
      await vi.waitFor(() => expect(session.status.value).toBe('expired'))
      return { token }
    }

    test('goes on, with the calls that have waited', async () => {
      const { token } = await expire()
      replies.set('/api/Auth/Refresh', () => issue('acc_1', 'usr_1'))
      signInElsewhere()
      expect(await token).toBe(tokenOf('acc_1', 'usr_1'))
      expect(session.status.value).toBe('signed-in')
    })

    test('of somebody else, or one that ended again, stays locked', async () => {
      await expire()
      const refresh = vi.fn(() => issue('acc_1', 'usr_2'))
      replies.set('/api/Auth/Refresh', refresh)
      signInElsewhere()
      await vi.waitFor(() => expect(refresh).toHaveBeenCalledOnce())
      onStorage({ key: 'perigee.signed-in', newValue: null })
      onStorage({ key: 'perigee.theme', newValue: 'dark' })
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(refresh).toHaveBeenCalledOnce()
      expect(session.status.value).toBe('expired')
    })

    test('opens a page that asked to sign in', async () => {
      replies.set('/api/Auth/Refresh', () => problem(401))
      await session.start()
      expect(session.status.value).toBe('signed-out')
      localStorage.setItem('perigee.signed-in', '2')
      replies.set('/api/Auth/Refresh', () => issue('acc_1', 'usr_1'))
      replies.set('/api/me', () =>
        json({ account: { id: 'acc_1' }, user: { id: 'usr_1', groupId: null }, scopes: [] }),
      )
      signInElsewhere()
      await vi.waitFor(() => expect(session.status.value).toBe('signed-in'))
    })
  })

  test('leaves account and e-mail for the next sign-in, never a password or key', async () => {
    const { readRemembered } = await load<Remembered>('session/remembered.ts')
    expect(readRemembered()).toEqual({ account: '', email: '' })
    await signIn()
    expect(readRemembered()).toEqual({ account: 'a', email: 'a@example.com' })
    replies.set('/api/Auth/SignOut', () => json({ success: true }))
    await session.signOut()
    expect(readRemembered()).toEqual({ account: 'a', email: 'a@example.com' })
    // By a key: the address stays with its account.
    replies.set('/api/Auth/Token', () => issue('acc_1', null))
    await session.signInByKey('a', 'pgk_secret')
    expect(readRemembered()).toEqual({ account: 'a', email: 'a@example.com' })
    await session.signInByKey('b', 'pgk_secret')
    expect(readRemembered()).toEqual({ account: 'b', email: '' })
    expect([...kept.values()].join()).not.toMatch(/secret/)
  })

  test('is not remembered where it was refused, and a damaged entry is ignored', async () => {
    const { readRemembered } = await load<Remembered>('session/remembered.ts')
    replies.set('/api/Auth/SignIn', () => problem(401))
    await expect(session.signInByPassword('x', 'x@example.com', 'no')).rejects.toThrow('No.')
    expect(readRemembered()).toEqual({ account: '', email: '' })
    kept.set('perigee.last-sign-in', 'null{')
    expect(readRemembered()).toEqual({ account: '', email: '' })
  })

  test('has the new name and time zone of a changed account', async () => {
    await signIn()
    session.updateAccount({ name: 'B', timeZone: 'Asia/Tokyo' })
    expect(session.me.value?.account).toEqual({
      id: 'acc_1',
      userName: 'a',
      name: 'B',
      timeZone: 'Asia/Tokyo',
    })
  })
})
