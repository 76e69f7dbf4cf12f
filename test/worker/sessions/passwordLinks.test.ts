import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { deliveryStatusesIn, raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { callWithBindings, serveWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator, ORIGIN } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import {
  createSignInUser,
  makeLink,
  PASSWORD,
  postSignIn,
  refresh,
  signIn,
} from '../../support/sessions.ts'
import { eventually } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const HOUR_MS = 3_600_000
const NEW_PASSWORD = 'staple anvil plinth'

const invite = (account: TestAccount, userId: string) =>
  account.call('POST', `/api/users/${userId}/invite`)

const setPassword = (link: string, password = NEW_PASSWORD) =>
  call('POST', '/api/Auth/Password', { body: { link, password } })

const setEmailBudget = (account: TestAccount, emails: number) => {
  const body = { budgets: { messagesPerDay: { Email: emails } } }
  return callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body })
}

/** Asks for a reset and waits for the work after the reply. */
const requestReset = (body: object, bindings = {}) =>
  callWithBindings(bindings, 'POST', '/api/Auth/Reset', { body })

interface Message {
  to: string
  subject: string
  text: string
}

const mailTo = async (account: TestAccount, email: string): Promise<Message[]> => {
  await waitUntilSent(account)
  const messages: Message[] = await readMessages(account)
  return messages.filter(({ to }) => to === email)
}

/** The link in the newest e-mail to the user. */
const linkTo = async (account: TestAccount, email: string): Promise<string> => {
  const [mail] = await mailTo(account, email)
  return /^https:\S+$/m.exec(mail?.text ?? '')?.[0] ?? ''
}

const expectInvalid = async (link: string, message = link) => {
  const reply = await setPassword(link)
  expect([reply.status, reply.body.code], message).toEqual([400, 'invalid-link'])
  expect(reply.body.errors[0].pointer).toBe('/link')
}

describe('an invitation', () => {
  test('is an e-mail with a link, with which the user sets a password and signs in', async () => {
    const account = await openAccount({ cell: 1 })
    const user = await createUser(account, { timeZone: 'Europe/Lisbon' })
    const invited = await invite(account, user.id)
    expect(invited.status, invited.text).toBe(200)
    const days = (Date.parse(invited.body.expires) - Date.now()) / (24 * HOUR_MS)
    expect(days).toBeCloseTo(7, 2)
    const [mail] = await mailTo(account, user.email)
    expect(mail?.subject).toBe('Invitation to Test')
    expect(mail?.text).toContain('You have been invited to sign in to Test.')
    expect(mail?.text).toContain(
      `Then sign in with the account ${account.userName} and this e-mail`,
    )
    const link = await linkTo(account, user.email)
    expect(link).toMatch(/^https:\/\/perigee\.test\/password#invitation\.1\.usr_[\w.-]+$/)

    const reply = await setPassword(new URL(link).hash.slice(1))
    expect(reply.body).toEqual({ success: true, account: account.userName, email: user.email })
    const { account: name, email } = reply.body
    const signedIn = await postSignIn({ account: name, email, password: NEW_PASSWORD })
    expect(signedIn.status).toBe(200)
    // Use voids it; so is every other link of before.
    await expectInvalid(link)
    const { body } = await account.call('GET', `/api/users/${user.id}`)
    expect(body.modification > user.modification).toBe(true)
  })

  test('is shown of the user until there is a password', async () => {
    const account = await openAccount()
    const [ana, bo] = [await createUser(account), await createUser(account)]
    const isInvited = async ({ id }: { id: string }) =>
      (await account.call('GET', `/api/users/${id}`)).body.invited
    expect(await isInvited(ana)).toBe(false)
    for (const { id } of [ana, bo]) await invite(account, id)
    const { body: list } = await account.call('GET', '/api/users')
    expect(list.users.map(({ invited }: { invited: boolean }) => invited)).toEqual([true, true])
    await setPassword(await linkTo(account, ana.email))
    await account.call('PATCH', `/api/users/${bo.id}`, { body: { password: NEW_PASSWORD } })
    expect([await isInvited(ana), await isInvited(bo)]).toEqual([false, false])
    // A further link to somebody with a password is no invitation to wait for.
    await invite(account, ana.id)
    expect(await isInvited(ana)).toBe(false)
  })

  test('that is refused leaves the user as it was', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const { token } = account
    const path = `/api/users/${user.id}/invite`
    const refused = await callWithBindings({ PUBLIC_URL: '' }, 'POST', path, { token })
    expect([refused.status, refused.body.code]).toEqual([503, 'links-unavailable'])
    expect((await account.call('GET', `/api/users/${user.id}`)).body.invited).toBe(false)
  })

  test('is made from PUBLIC_URL and never from the request’s host', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const { token } = account
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Origin: ORIGIN }
    const bindings = { PUBLIC_URL: 'https://console.example/ignored' }
    const path = `/api/users/${user.id}/invite`
    const invited = await callWithBindings(bindings, 'POST', path, { token, headers })
    expect(invited.status).toBe(200)
    expect(await linkTo(account, user.email)).toMatch(/^https:\/\/console\.example\/password#/)
    for (const PUBLIC_URL of ['', 'not a url']) {
      const refused = await callWithBindings({ PUBLIC_URL }, 'POST', path, { token })
      expect([refused.status, refused.body.code]).toEqual([503, 'links-unavailable'])
    }
    expect(await mailTo(account, user.email)).toHaveLength(1)
  })

  test('is sent once per Idempotency-Key, and at most three times an hour to a user', async () => {
    const account = await openAccount()
    const [user, other] = [await createUser(account), await createUser(account)]
    const path = `/api/users/${user.id}/invite`
    const headers = { 'Idempotency-Key': 'invite-ana' }
    const [first, again] = [
      await account.call('POST', path, { headers }),
      await account.call('POST', path, { headers }),
    ]
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.text).toBe(first.text)
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await invite(account, user.id)).status),
    )
    expect(statuses.sort()).toEqual([200, 200, 429, 429])
    const refused = await invite(account, user.id)
    expect(refused.body.code).toBe('too-many-requests')
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3000)
    expect(await mailTo(account, user.email)).toHaveLength(3)
    expect((await invite(account, other.id)).status).toBe(200)
  })

  test('is refused to users of other accounts, and to callers without admin', async () => {
    const [account, foreign] = [await openAccount(), await openAccount()]
    const user = await createUser(account)
    const refused = await foreign.call('POST', `/api/users/${user.id}/invite`)
    expect([refused.status, refused.body.code]).toEqual([404, 'user-not-found'])
    const session = await signIn(
      account,
      await createSignInUser(account, { privileges: ['write'] }),
    )
    const forbidden = await session.call('POST', `/api/users/${user.id}/invite`)
    expect([forbidden.status, forbidden.body.code]).toEqual([403, 'forbidden'])
    await waitUntilSent(account)
    expect(await readMessages(account)).toEqual([])
  })
})

describe('a link in a message', () => {
  test('is shown in full to admin where the provider sends nothing, and redacted otherwise', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    await invite(account, user.id)
    const link = await linkTo(account, user.email)
    const secret = new URL(link).hash.slice(1)
    expect(secret).toMatch(/^invitation\./)
    await env.DB.prepare('UPDATE messages SET provider = ? WHERE account_id = ?')
      .bind('resend', account.id)
      .run()
    const redacted = await account.call('GET', '/api/account/messages')
    expect(redacted.text).not.toContain(secret)
    expect(redacted.body.messages[0].text).toContain('https://perigee.test/password#…')
    const reader = await signIn(account, await createSignInUser(account, { privileges: ['write'] }))
    expect((await reader.call('GET', '/api/account/messages')).body.messages).toEqual([])
  })

  test('is not in the event log, and the message cannot be sent again', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    await invite(account, user.id)
    await linkTo(account, user.email)
    const events = await account.call('GET', '/api/events?after=0')
    expect(events.text).not.toContain('password#')
    const [{ id }] = await readMessages(account)
    const retried = await account.call('POST', `/api/account/messages/${id}/retry`)
    expect(retried.body.code).toBe('message-not-found')
  })
})

describe('a reset', () => {
  const start = async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    return { account, user, body: { account: account.userName, email: user.email } }
  }

  test('e-mails a link for one hour, whose use ends all sessions and voids all links', async () => {
    const { account, user, body } = await start()
    const { cookie, token } = await signIn(account, user)
    const reply = await requestReset({ ...body, account: body.account.toUpperCase() })
    expect([reply.status, reply.body]).toEqual([200, { success: true }])
    const [mail] = await mailTo(account, user.email)
    expect(mail?.subject).toBe('Reset your password')
    expect(mail?.text).toContain(`with the account ${account.userName} and this e-mail address`)
    const link = await linkTo(account, user.email)
    expect(link).toMatch(/^https:\/\/perigee\.test\/password#reset\.0\./)
    await invite(account, user.id)
    const invitation = await linkTo(account, user.email)
    expect(invitation).toContain('#invitation.')

    // A common or short password leaves the link as it is.
    for (const password of ['short', 'password1234', 'a'.repeat(257)]) {
      const refused = await setPassword(link, password)
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/password'])
    }
    expect((await setPassword(link)).status).toBe(200)
    await expectInvalid(link)
    await expectInvalid(invitation)
    expect((await refresh(cookie)).status).toBe(401)
    expect((await call('GET', '/api/devices', { token })).body.code).toBe('session-ended')
    expect((await postSignIn({ ...body, password: PASSWORD })).status).toBe(401)
    expect((await postSignIn({ ...body, password: NEW_PASSWORD })).status).toBe(200)
  })

  test('always gets the same reply, and only users with a password a link', async () => {
    const { account, user, body } = await start()
    const unset = await createUser(account)
    const disabled = await createSignInUser(account, { disabled: true })
    const bodies = [
      body,
      { ...body, account: 'nobody-has-this-name' },
      { ...body, email: 'nobody@example.com' },
      { ...body, email: 'not an address' },
      { ...body, email: unset.email },
      { ...body, email: disabled.email },
    ]
    const texts = []
    for (const one of bodies) {
      const reply = await requestReset(one)
      texts.push(`${reply.status} ${reply.text}`)
    }
    expect(new Set(texts)).toEqual(new Set(['200 {"success":true}']))
    await waitUntilSent(account)
    const sent: Message[] = await readMessages(account)
    expect(sent.map(({ to }) => to)).toEqual([user.email])
    const bad = await requestReset({ account: account.userName })
    expect([bad.status, bad.body.errors[0].pointer]).toEqual([400, '/email'])
  })

  test('replies first and works afterwards', async () => {
    const { account, user, body } = await start()
    const gate = Promise.withResolvers<void>()
    const hold = (statement: D1PreparedStatement): D1PreparedStatement =>
      new Proxy(statement, {
        get(target, name) {
          const member = Reflect.get(target, name) as (...values: unknown[]) => unknown
          if (name === 'bind') return (...values: unknown[]) => hold(target.bind(...values))
          return async (...values: unknown[]) => {
            await gate.promise
            return member.apply(target, values)
          }
        },
      })
    const DB = { prepare: (sql: string) => hold(env.DB.prepare(sql)) } as unknown as D1Database
    const reply = await serveWithBindings({ DB }, 'POST', '/api/Auth/Reset', { body })
    expect([reply.status, reply.body]).toEqual([200, { success: true }])
    gate.resolve()
    await eventually(async () => expect(await mailTo(account, user.email)).toHaveLength(1))
  })

  test('replies although the work fails, and logs no address', async () => {
    const { body } = await start()
    const logged: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line) => void logged.push(String(line)))
    vi.spyOn(console, 'error').mockImplementation((line) => void logged.push(String(line)))
    const reply = await requestReset(body, { PUBLIC_URL: '' })
    vi.restoreAllMocks()
    expect([reply.status, reply.body]).toEqual([200, { success: true }])
    expect(logged.join()).toContain('reset-failed')
    expect(logged.join()).not.toContain(body.email)
  })

  test('is sent three times an hour to a user, and no more under any race', async () => {
    const { account, user, body } = await start()
    await Promise.all(Array.from({ length: 8 }, () => requestReset(body)))
    expect(await mailTo(account, user.email)).toHaveLength(3)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS + 1000 })
    await requestReset(body)
    await eventually(async () => {
      await runDurableObjectAlarm(ledgerStub(account))
      const { results } = await env.DB.prepare('SELECT id FROM messages WHERE account_id = ?')
        .bind(account.id)
        .all()
      expect(results).toHaveLength(4)
    })
  })

  test('is sent beside the budget for e-mails: neither uses up the other', async () => {
    const { account, body } = await start()
    await setEmailBudget(account, 1)
    const id = await createDevice(account)
    const sent = async () => {
      await waitUntilSent(account)
      return (await account.call('GET', '/api/account')).body.account.budgetUsage.messages.Email
    }
    await requestReset(body)
    expect(await sent()).toBe(0)
    expect(deliveryStatusesIn(await raiseAlert(account, id))).toContain('Email queued')
    expect(await sent()).toBe(1)
    await requestReset(body)
    const kinds = (await readMessages(account)).map(({ kind }: { kind: string }) => kind)
    expect(kinds.filter((kind: string) => kind === 'reset')).toHaveLength(2)
  })

  test('is sent twenty times a day for a small account, and once to each user', async () => {
    const { account, user, body } = await start()
    await setEmailBudget(account, 1)
    const stub = ledgerStub(account)
    await runInDurableObject(stub, (_, state) => {
      for (let sent = 0; sent < 22; sent++)
        state.storage.sql.exec(
          `INSERT INTO notices (id, accepted, link_kind, user_id) VALUES (?, ?, 'reset', ?)`,
          `ntc_${sent}`,
          Date.now() - 1000 * sent,
          `usr_${sent}`,
        )
    })
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await requestReset(body)
    expect(warn).not.toHaveBeenCalled()
    // Others cannot use up the first one of a user, and what is refused is logged.
    await requestReset(body)
    expect(warn.mock.calls.join()).toContain(`"event":"reset-refused","account":"${account.id}"`)
    vi.restoreAllMocks()
    expect(await mailTo(account, user.email)).toHaveLength(1)
    // Invitations have a limit of their own.
    expect((await invite(account, user.id)).status).toBe(200)
  })

  test('beyond the attempts of an address does nothing, with the same reply', async () => {
    const { account, user, body } = await start()
    const limited = { SIGN_INS_PER_ADDRESS: '1' }
    const headers = { 'CF-Connecting-IP': '198.51.100.3' }
    const ask = () => callWithBindings(limited, 'POST', '/api/Auth/Reset', { body, headers })
    expect([(await ask()).text, (await ask()).text]).toEqual([
      '{"success":true}',
      '{"success":true}',
    ])
    expect(await mailTo(account, user.email)).toHaveLength(1)
  })
})

describe('a link is refused', () => {
  test('when it is forged, changed, malformed or for another user or cell', async () => {
    const account = await openAccount()
    const [user, other] = [await createUser(account), await createUser(account)]
    const link = await makeLink(account, user)
    const [kind = '', cell = '', id = '', expires = '', mac = ''] = link.split('.')
    const forged: Record<string, string[]> = {
      'another kind': ['reset', cell, id, expires, mac],
      'another cell': [kind, '1', id, expires, mac],
      'a cell that is not bound': [kind, '99', id, expires, mac],
      'another user': [kind, cell, other.id, expires, mac],
      'an unknown user': [kind, cell, `usr_${'0'.repeat(22)}`, expires, mac],
      'a later end': [kind, cell, id, String(Number(expires) + 1), mac],
      'another MAC': [kind, cell, id, expires, mac.split('').reverse().join('')],
      'no MAC': [kind, cell, id, expires, ''],
    }
    for (const [message, parts] of Object.entries(forged))
      await expectInvalid(parts.join('.'), message)
    for (const malformed of ['x', '#', `${link}x`, 'https://perigee.test/password'])
      await expectInvalid(malformed)
    const stored = await env.DB.prepare('SELECT password FROM users WHERE id IN (?, ?)')
      .bind(user.id, other.id)
      .all()
    expect(stored.results).toEqual([{ password: null }, { password: null }])
    expect((await setPassword(link)).status).toBe(200)
  })

  test('after its time', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const link = await makeLink(account, user, { lifetimeMs: 60_000 })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    await expectInvalid(link)
  })

  test('once the e-mail address has changed, or the user is gone', async () => {
    const account = await openAccount()
    const [user, gone] = [await createUser(account), await createUser(account)]
    const [link, dead] = [await makeLink(account, user), await makeLink(account, gone)]
    await account.call('PATCH', `/api/users/${user.id}`, { body: { email: 'new@example.com' } })
    await account.call('DELETE', `/api/users/${gone.id}`)
    await expectInvalid(link)
    await expectInvalid(dead)
  })

  test('by all but one of many uses at the same time', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const link = await makeLink(account, user)
    const passwords = Array.from({ length: 5 }, (_, index) => `${NEW_PASSWORD} ${index}`)
    const replies = await Promise.all(passwords.map((password) => setPassword(link, password)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    const winner = passwords[replies.findIndex(({ status }) => status === 200)]
    const credentials = { account: account.userName, email: user.email, password: winner }
    expect((await postSignIn(credentials)).status).toBe(200)
  })

  test('for a disabled user or account, with a reply that says so', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const change = { disabled: true, disabledMessage: 'On leave.' }
    await account.call('PATCH', `/api/users/${user.id}`, { body: change })
    await invite(account, user.id)
    const link = await linkTo(account, user.email)
    const refused = await setPassword(link)
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      403,
      'user-disabled',
      'On leave.',
    ])
    await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: false } })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: true } })
    expect((await setPassword(link)).body.code).toBe('account-disabled')
  })

  test('when its user was disabled since, also once the user is enabled again', async () => {
    const account = await openAccount()
    const user = await createUser(account)
    const link = await makeLink(account, user)
    const change = (body: object) => account.call('PATCH', `/api/users/${user.id}`, { body })
    // Other edits leave it valid.
    expect((await change({ name: 'Ana S.' })).status).toBe(200)
    await change({ disabled: true })
    await expectInvalid(link)
    await change({ disabled: false })
    await expectInvalid(link)
    await invite(account, user.id)
    expect((await setPassword(await linkTo(account, user.email))).status).toBe(200)
  })
})
