import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { call, callAsOperator, ORIGIN } from '../../support/http.ts'
import {
  cookieOf,
  createSignInUser,
  postWithCookie,
  refresh,
  signIn,
} from '../../support/sessions.ts'
import { readToken } from '../../support/tokens.ts'

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000
const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

const start = async (members: object = {}) => {
  const account = await openAccount()
  const user = await createSignInUser(account, members)
  return { account, user, ...(await signIn(account, user)) }
}

const counterOf = (cookie: string): number => Number(cookie.split('.')[2])

test('a refresh gives a new token of the same session and the next cookie', async () => {
  const { cookie, sessionId, user } = await start()
  const reply = await refresh(cookie)
  expect(reply.status, reply.text).toBe(200)
  expect(Object.keys(reply.body)).toEqual(['success', 'token', 'expires'])
  expect(readToken(reply.body.token).claims).toMatchObject({ key: sessionId, user: user.id })
  const next = cookieOf(reply)
  expect([counterOf(cookie), counterOf(next)]).toEqual([1, 2])
  expect(reply.headers.get('Set-Cookie')).toMatch(
    /; Max-Age=604800; Path=\/api\/Auth; HttpOnly; Secure; SameSite=Strict$/,
  )
  expect((await call('GET', '/api/devices', { token: reply.body.token })).status).toBe(200)
})

test('a refresh is when the user was last seen, also once the session has ended', async () => {
  const { account, cookie, user } = await start()
  const read = async () => (await account.call('GET', `/api/users/${user.id}`)).body
  const before = await read()
  expect(before.lastSeen).toBe(before.lastLogin)
  later(2 * DAY_MS)
  const next = cookieOf(await refresh(cookie))
  vi.useRealTimers()
  const seen = await read()
  expect(seen.lastLogin).toBe(before.lastLogin)
  expect(Date.parse(seen.lastSeen) - Date.parse(before.lastSeen)).toBeGreaterThanOrEqual(2 * DAY_MS)
  await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: true } })
  expect((await refresh(next)).status).not.toBe(200)
  expect((await read()).lastSeen).toBe(seen.lastSeen)
})

describe('a cookie of the old name', () => {
  const RENAMED_AT = Date.parse('2026-11-17')
  const startAt = async (time: number) => {
    const started = await start()
    vi.useFakeTimers({ toFake: ['Date'], now: time })
    await env.DB.prepare(
      'UPDATE sessions SET creation = ?, last_used = ?, expires = ? WHERE id = ?',
    )
      .bind(time, time, time + DAY_MS, started.sessionId)
      .run()
    return started
  }
  const rename = (cookie: string) => cookie.replace('__Secure-', '')

  test('is read for a session of before, and replaced by one of the new name', async () => {
    const { cookie } = await startAt(RENAMED_AT - 1)
    const old = rename(cookie)
    expect(old).toMatch(/^perigee_session=/)
    const reply = await refresh(old)
    expect(reply.status).toBe(200)
    const [set = '', cleared] = reply.headers.getSetCookie()
    expect(set).toMatch(/^__Secure-perigee_session=0\./)
    expect(cleared).toMatch(/^perigee_session=; Max-Age=0; Path=\/api\/Auth; /)
    // The new one counts where a browser has both.
    const both = await refresh(`perigee_session=forged; ${cookieOf(reply)}`)
    expect(both.status).toBe(200)
    const out = await postWithCookie('/api/Auth/SignOut', rename(cookieOf(both)))
    expect(out.headers.getSetCookie().map((one) => one.split(';')[0])).toEqual([
      '__Secure-perigee_session=',
      'perigee_session=',
    ])
  })

  test('that another page has set is of no use for a later session', async () => {
    const { cookie } = await startAt(RENAMED_AT)
    const planted = await refresh(rename(cookie))
    expect([planted.status, planted.body.code]).toEqual([401, 'session-ended'])
    expect((await refresh(cookie)).status).toBe(200)
  })
})

describe('the cookie before the last', () => {
  test('gets the same successor for 60 seconds: a lost reply', async () => {
    const { cookie } = await start()
    const lost = cookieOf(await refresh(cookie))
    later(59_000)
    const again = await refresh(cookie)
    expect(again.status).toBe(200)
    expect(cookieOf(again)).toBe(lost)
    const next = await refresh(lost)
    expect([next.status, counterOf(cookieOf(next))]).toEqual([200, 3])
  })

  test('two tabs that refresh at once get the same cookie, and both go on', async () => {
    const { cookie, sessionId } = await start()
    const replies = await Promise.all(Array.from({ length: 8 }, () => refresh(cookie)))
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const cookies = new Set(replies.map(cookieOf))
    expect(cookies.size).toBe(1)
    const counter = await env.DB.prepare('SELECT counter FROM sessions WHERE id = ?')
      .bind(sessionId)
      .first('counter')
    expect(counter).toBe(2)
    for (const { body } of replies)
      expect((await call('GET', '/api/devices', { token: body.token })).status).toBe(200)
    expect((await refresh([...cookies][0] ?? '')).status).toBe(200)
  })

  test('ends the session after 60 seconds, for the holder of the current one too', async () => {
    const { cookie, sessionId } = await start()
    const { body, headers } = await refresh(cookie)
    const current = (headers.get('Set-Cookie') ?? '').split(';')[0] ?? ''
    later(61_000)
    const reused = await refresh(cookie)
    expect([reused.status, reused.body.code]).toEqual([401, 'session-ended'])
    expect(reused.headers.get('Set-Cookie')).toMatch(/^__Secure-perigee_session=; Max-Age=0; /)
    expect((await refresh(current)).body.code).toBe('session-ended')
    const token = await call('GET', '/api/devices', { token: body.token })
    expect([token.status, token.body.code]).toEqual([401, 'session-ended'])
    expect(
      await env.DB.prepare('SELECT 1 FROM sessions WHERE id = ?').bind(sessionId).first(),
    ).toBeNull()
  })

  test('does not count as one when it is older than that, even within 60 seconds', async () => {
    const { cookie } = await start()
    const second = cookieOf(await refresh(cookie))
    const third = cookieOf(await refresh(second))
    expect((await refresh(cookie)).status).toBe(401)
    expect((await refresh(third)).status).toBe(401)
  })
})

describe('a session ends', () => {
  test('after 7 days without a refresh', async () => {
    const { cookie } = await start()
    later(7 * DAY_MS - 60_000)
    const next = cookieOf(await refresh(cookie))
    expect(counterOf(next)).toBe(2)
    vi.setSystemTime(Date.now() + 7 * DAY_MS)
    expect((await refresh(next)).body.code).toBe('session-ended')
  })

  test('after 30 days, however often it is refreshed', async () => {
    const { cookie } = await start()
    const started = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: started })
    let current = cookie
    for (const day of [6, 12, 18, 24, 29]) {
      vi.setSystemTime(started + day * DAY_MS)
      const reply = await refresh(current)
      expect(reply.status).toBe(200)
      current = cookieOf(reply)
      if (day === 29) {
        const maxAge = Number(/Max-Age=(\d+)/.exec(reply.headers.get('Set-Cookie') ?? '')?.[1])
        expect(maxAge).toBeLessThanOrEqual(86_400)
        expect(maxAge).toBeGreaterThan(86_000)
      }
    }
    vi.setSystemTime(started + 30 * DAY_MS + 1000)
    expect((await refresh(current)).body.code).toBe('session-ended')
  })

  test('with the account or the user disabled, with a reply that says so', async () => {
    const { account, user, cookie } = await start({ disabledMessage: 'On leave.' })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    const disabled = await refresh(cookie)
    expect([disabled.status, disabled.body.code]).toEqual([403, 'account-disabled'])
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: false } })
    expect((await refresh(cookie)).status).toBe(200)
    const { body } = await account.call('GET', `/api/users/${user.id}`)
    expect(body.disabled).toBe(false)
  })
})

describe('a cookie is refused', () => {
  const expectEnded = async (cookie: string, message: string) => {
    const reply = await refresh(cookie)
    expect([reply.status, reply.body.code], message).toEqual([401, 'session-ended'])
  }

  test('when it is forged, changed, malformed or missing, and the session goes on', async () => {
    const { cookie } = await start()
    const [name = '', value = ''] = cookie.split('=')
    const [cell = '', session = '', counter = '', mac = ''] = value.split('.')
    const other = (await start()).cookie.split('=')[1]?.split('.')[3] ?? ''
    const changed: Record<string, string> = {
      'another counter': [cell, session, '2', mac].join('.'),
      'another cell': ['1', session, counter, mac].join('.'),
      'a cell that is not bound': ['77', session, counter, mac].join('.'),
      'another session': [cell, `ses_${'0'.repeat(22)}`, counter, mac].join('.'),
      'the MAC of another session': [cell, session, counter, other].join('.'),
      'a changed MAC': [cell, session, counter, mac.split('').reverse().join('')].join('.'),
      'no MAC': [cell, session, counter, ''].join('.'),
      'too much': `${value}.x`,
      empty: '',
    }
    for (const [message, forged] of Object.entries(changed))
      await expectEnded(`${name}=${forged}`, message)
    await expectEnded(`other=${value}`, 'another name')
    const reply = await postWithCookie('/api/Auth/Refresh', `a=b; ${cookie}; c=d`)
    expect(reply.status).toBe(200)
  })

  test('where only a bearer token is given, even a right one', async () => {
    const { token } = await start()
    const reply = await call('POST', '/api/Auth/Refresh', { token, headers: { Origin: ORIGIN } })
    expect([reply.status, reply.body.code]).toEqual([401, 'session-ended'])
  })

  test('but one signed with the previous secret is accepted during a rotation', async () => {
    const { cookie } = await start()
    const rotated = {
      TOKEN_SECRET: 'the-new-secret-of-this-test-and-nothing-else',
      TOKEN_SECRET_PREVIOUS: env.TOKEN_SECRET,
    }
    const headers = { Origin: ORIGIN, Cookie: cookie }
    const reply = await callWithBindings(rotated, 'POST', '/api/Auth/Refresh', { headers })
    expect(reply.status).toBe(200)
    await expectEnded(cookieOf(reply), 'the old secret alone')
  })
})

describe('a page of another site', () => {
  const PATHS = ['/api/Auth/Refresh', '/api/Auth/SignOut']
  const FOREIGN = [
    'https://evil.example',
    'null',
    'http://perigee.test',
    `${ORIGIN}.evil.example`,
    '',
  ]

  test('cannot use the cookie: a wrong or missing Origin is 403 and changes nothing', async () => {
    const { cookie } = await start()
    for (const path of PATHS) {
      for (const Origin of FOREIGN) {
        const reply = await postWithCookie(path, cookie, { headers: { Origin } })
        expect([reply.status, reply.body.code], `${path} ${Origin}`).toEqual([403, 'wrong-origin'])
        expect(reply.headers.has('Set-Cookie')).toBe(false)
      }
      const none = await call('POST', path, { headers: { Cookie: cookie } })
      expect([none.status, none.body.code]).toEqual([403, 'wrong-origin'])
    }
    expect((await refresh(cookie)).status).toBe(200)
  })

  test('gets no CORS headers, in no reply', async () => {
    const { cookie } = await start()
    const replies = []
    for (const path of PATHS) {
      replies.push(
        await call('OPTIONS', path, {
          headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
        }),
        await postWithCookie(path, cookie, { headers: { Origin: 'https://evil.example' } }),
        await call('GET', path),
        await postWithCookie(path, cookie, { body: '{' }),
        await refresh(''),
      )
    }
    replies.push(await refresh(cookie))
    for (const { headers } of replies)
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    // Sign-in is open like the token endpoint, without credentials.
    const signInReply = await call('POST', '/api/Auth/SignIn', { body: {} })
    expect(signInReply.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(signInReply.headers.has('Access-Control-Allow-Credentials')).toBe(false)
  })

  test('is distinguished from ours by PUBLIC_URL where a proxy changes the address', async () => {
    const { cookie } = await start()
    const bindings = { PUBLIC_URL: 'https://console.example/path' }
    const headers = { Cookie: cookie, Origin: 'https://console.example' }
    const reply = await callWithBindings(bindings, 'POST', '/api/Auth/Refresh', { headers })
    expect(reply.status).toBe(200)
  })
})
