import { describe, expect, test, vi } from 'vitest'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { call, callAsOperator } from '../support/http.ts'
import { createSignInUser, signIn } from '../support/sessions.ts'
import { garminEvent, garminPush, makeSource } from '../support/sources.ts'

let count = 0
const newImei = () => `3004340600${String(++count).padStart(5, '0')}`

/** A device that has reported by a source with these settings. */
const makeReached = async (
  account: TestAccount,
  provider: string,
  settings: object,
  members: object = {},
) => {
  const imei = newImei()
  const { device } = (
    await account.call('POST', '/api/devices', {
      body: { name: 'Tern', identifier: imei, ...members },
    })
  ).body
  const source = await makeSource(account, provider, { settings })
  if (provider === 'garmin') await source.push(garminPush([garminEvent(imei, Date.now())]))
  else {
    const at = new Date().toISOString().slice(2, 19).replace('T', ' ')
    const body = JSON.stringify({ imei, momsn: 1, transmit_time: at, data: '' })
    await source.push({ body, contentType: 'application/json' })
  }
  return { imei, id: device.id as string, source }
}

const send = (account: TestAccount, id: string, body: object, headers = {}) =>
  account.call('POST', `/api/devices/${id}/sendCommand`, { body, headers })
const callsFor = async (imei: string) =>
  (await (await fetch(`https://receiver.example/${imei}`)).json()) as {
    behaviour: string
    headers: Record<string, string>
    body: string
  }[]

const GARMIN = { apiKey: 'ok', sender: 'ops@example.com' }

describe('a command by Garmin', () => {
  test('is a text, an order or bytes, to the fixed host with the source’s key', async () => {
    const account = await openAccount()
    const { imei, id } = await makeReached(account, 'garmin', GARMIN)
    const { status, body } = await send(account, id, { command: 'Call base.' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      result: '10 of at most 160 characters.',
      command: { status: 'sent', format: 'Text', command: 'Call base.', sms: false },
    })
    for (const command of ['/locate', '/tracking 600', '/tracking off', '/interval 300'])
      expect((await send(account, id, { command })).body.command.status).toBe('sent')
    await send(account, id, { command: '00ff', format: 'Hex' })
    const calls = await callsFor(imei)
    expect(calls.map(({ behaviour }) => behaviour)).toEqual([
      'ipcinbound.inreachapp.com/api/Messaging/Message',
      'ipcinbound.inreachapp.com/api/Location/SendLocationRequest',
      'ipcinbound.inreachapp.com/api/Tracking/Tracking',
      'ipcinbound.inreachapp.com/api/Tracking/Tracking',
      'ipcinbound.inreachapp.com/api/Tracking/Interval',
      'ipcinbound.inreachapp.com/api/Messaging/Binary',
    ])
    expect(calls[0]?.headers['x-api-key']).toBe('ok')
    expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({
      Messages: [{ Recipients: [imei], Sender: 'ops@example.com', Message: 'Call base.' }],
    })
    expect(JSON.parse(calls[5]?.body ?? '')).toMatchObject({
      Messages: [{ Type: 1, Payload: 'AP8=' }],
    })
  })

  test('that may have been accepted is unknown, and is not sent again by a repeat', async () => {
    const account = await openAccount()
    const { imei, id } = await makeReached(account, 'garmin', { ...GARMIN, apiKey: '500' })
    const headers = { 'Idempotency-Key': 'once' }
    const first = await send(account, id, { command: 'Hello' }, headers)
    expect(first.body.command).toMatchObject({ status: 'unknown' })
    const again = await send(account, id, { command: 'Hello' }, headers)
    expect(again.body).toEqual(first.body)
    expect(await callsFor(imei)).toHaveLength(1)
  })

  test('that was refused has failed', async () => {
    const account = await openAccount()
    for (const apiKey of ['429', '401', '422']) {
      const { id } = await makeReached(account, 'garmin', { ...GARMIN, apiKey })
      expect((await send(account, id, { command: 'Hello' })).body.command.status).toBe('failed')
    }
  })

  test('by version 1 has a host of the list and its own credentials', async () => {
    const account = await openAccount()
    const settings = { host: 'explore.garmin.com', userName: 'fleet', password: 'p:1', sender: 's' }
    const { imei, id } = await makeReached(account, 'garmin', settings)
    await send(account, id, { command: 'Hello' })
    await send(account, id, { command: '/locate' })
    const calls = await callsFor(imei)
    expect(calls.map(({ behaviour }) => behaviour)).toEqual([
      'explore.garmin.com/IPCInbound/V1/Messaging.svc/Message',
      'explore.garmin.com/IPCInbound/V1/Location.svc/LocationRequest',
    ])
    expect(calls[0]?.headers.authorization).toBe(`Basic ${btoa('fleet:p:1')}`)
    const other = await makeReached(account, 'garmin', { ...settings, password: 'heslo-ž' })
    expect((await send(account, other.id, { command: 'Hello' })).status).toBe(200)
    const [sent] = await callsFor(other.imei)
    const password = new TextEncoder().encode('fleet:heslo-ž').toBase64()
    expect(sent?.headers.authorization).toBe(`Basic ${password}`)
  })

  test('too long, wrong or unknown is refused before it is sent', async () => {
    const account = await openAccount()
    const { imei, id } = await makeReached(account, 'garmin', GARMIN)
    for (const [body, code] of [
      [{ command: 'x'.repeat(161) }, 'command-not-possible'],
      [{ command: '00'.repeat(269), format: 'Hex' }, 'command-not-possible'],
      [{ command: '/interval 5' }, 'command-not-possible'],
      [{ command: '/selfdestruct' }, 'command-not-possible'],
      [{ command: 'zz', format: 'Hex' }, 'invalid-request'],
      [{ command: '' }, 'invalid-request'],
    ] as const)
      expect((await send(account, id, body)).body.code).toBe(code)
    expect(await callsFor(imei)).toEqual([])
  })
})

describe('a command by RockBLOCK', () => {
  test('goes as hex in a form; the reply says what became of it', async () => {
    const account = await openAccount()
    const settings = { userName: 'fleet', password: 'right' }
    const { imei, id } = await makeReached(account, 'rockblock', settings)
    const { body } = await send(account, id, { command: 'SGVsbG8=', format: 'Base64' })
    expect(body.command).toMatchObject({ status: 'sent', answer: 'OK,4114651' })
    const [sent] = await callsFor(imei)
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
      imei,
      username: 'fleet',
      password: 'right',
      data: '48656c6c6f',
    })
    const wrong = await makeReached(account, 'rockblock', { userName: 'x', password: 'wrong' })
    expect((await send(account, wrong.id, { command: 'Hello' })).body.command).toMatchObject({
      status: 'failed',
      answer: 'FAILED,10,Invalid login',
    })
  })
})

describe('a network that misbehaves', () => {
  const settingsOf = (provider: string, behaviour: string) =>
    provider === 'garmin'
      ? { ...GARMIN, apiKey: behaviour }
      : { userName: 'fleet', password: behaviour }

  test.each(['garmin', 'rockblock'])(
    '%s: what may have been accepted is unknown, and is sent once',
    async (provider) => {
      const account = await openAccount()
      // A call that hangs is given up after 15 seconds.
      await Promise.all(
        ['hang', '500', '503', 'broken'].map(async (behaviour) => {
          const { imei, id } = await makeReached(account, provider, settingsOf(provider, behaviour))
          const headers = { 'Idempotency-Key': `${provider}-${behaviour}` }
          const first = await send(account, id, { command: 'Hello' }, headers)
          expect([behaviour, first.status, first.body.command?.status]).toEqual([
            behaviour,
            200,
            'unknown',
          ])
          const again = await send(account, id, { command: 'Hello' }, headers)
          expect(again.body).toEqual(first.body)
          expect(await callsFor(imei)).toHaveLength(1)
          const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
          expect(commands).toMatchObject([{ status: 'unknown', command: 'Hello' }])
        }),
      )
    },
  )

  test('a system error of RockBLOCK does not say that it was refused', async () => {
    const account = await openAccount()
    const { id } = await makeReached(account, 'rockblock', settingsOf('rockblock', 'system'))
    const { body } = await send(account, id, { command: 'Hello' })
    expect(body.command).toMatchObject({ status: 'unknown', answer: 'FAILED,99,System error' })
  })

  test.each(['garmin', 'rockblock'])(
    '%s: a redirect is not followed, and a flood not read',
    async (provider) => {
      const account = await openAccount()
      for (const behaviour of ['302', 'big']) {
        const { id } = await makeReached(account, provider, settingsOf(provider, behaviour))
        const { status, body } = await send(account, id, { command: 'Hello' })
        expect(status).toBe(200)
        expect((body.command.answer ?? '').length).toBeLessThanOrEqual(600)
      }
      expect(await callsFor('stolen')).toEqual([])
    },
  )

  test('two commands at once with one key are sent once', async () => {
    const account = await openAccount()
    const { imei, id } = await makeReached(account, 'garmin', GARMIN)
    const headers = { 'Idempotency-Key': 'twice' }
    const replies = await Promise.all(
      [1, 2, 3].map(() => send(account, id, { command: 'Hello' }, headers)),
    )
    for (const { status } of replies) expect([200, 409]).toContain(status)
    expect(await callsFor(imei)).toHaveLength(1)
  })
})

describe('a command by SMS', () => {
  test('goes to the device’s number and counts against its daily limit', async () => {
    const account = await openAccount()
    const { device } = (
      await account.call('POST', '/api/devices', {
        body: { name: 'Tern', min: '+881632000000', limits: { dailySmsLimit: 1 } },
      })
    ).body
    const first = await send(account, device.id, { command: 'RESET', sms: true })
    expect(first.body).toMatchObject({ result: '1 SMS segment.', command: { sms: true } })
    const second = await send(account, device.id, { command: 'RESET', sms: true })
    expect([second.status, second.body.code]).toEqual([409, 'daily-limit-reached'])
    expect(Date.parse(second.body.resetAt)).toBeGreaterThan(Date.now())
    const { body } = await account.call('GET', `/api/devices/${device.id}`)
    expect(body.device.usage.smsSent).toBe(1)
    expect(body.device.lastContact).toBeNull()
    const { commands } = (await account.call('GET', `/api/devices/${device.id}/commands`)).body
    expect(commands).toMatchObject([{ id: first.body.command.id }])
    const { messages } = (await account.call('GET', '/api/account/messages')).body
    expect(messages).toMatchObject([{ kind: 'command', deviceId: device.id }])
  })

  test('at once beyond the limit are refused, and a repeat of one that was sent is not', async () => {
    const account = await openAccount()
    const id = await createDevice(account, {
      min: '+881632000000',
      limits: { dailySmsLimit: 3, emergencyReserve: { email: 0, sms: 1 } },
    })
    const sendWith = (key: number) =>
      send(account, id, { command: 'RESET', sms: true }, { 'Idempotency-Key': `sms-${key}` })
    const keys = [1, 2, 3, 4, 5]
    const statuses = (await Promise.all(keys.map(sendWith))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 200, 409, 409, 409])
    const again = (await Promise.all(keys.map(sendWith))).map(({ status }) => status)
    expect(again).toEqual(statuses)
    const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
    expect(commands).toHaveLength(2)
    expect((await account.call('GET', '/api/account/messages')).body.messages).toHaveLength(2)
  })

  test('is refused when the account’s budget of messages is used up', async () => {
    const account = await openAccount()
    const budgets = { messagesPerDay: { SMS: 0 } }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    const id = await createDevice(account, { min: '+881632000000' })
    const { status, body } = await send(account, id, { command: 'RESET', sms: true })
    expect([status, body.code]).toEqual([409, 'message-budget-reached'])
    expect((await account.call('GET', '/api/account/messages')).body.messages).toEqual([])
  })

  test('has a message and an event that name the command and no alert', async () => {
    const account = await openAccount()
    const id = await createDevice(account, { min: '+881632000000' })
    const { command } = (await send(account, id, { command: 'RESET', sms: true })).body
    await vi.waitFor(async () => {
      const [event] = await readEvents(account, 'message.sent')
      expect(event).toEqual({
        deviceId: id,
        messageId: expect.stringMatching(/^msg_/),
        commandId: command.id,
        channel: 'SMS',
      })
    })
    const { messages } = (await account.call('GET', '/api/account/messages')).body
    expect(messages).toMatchObject([{ alertId: null, commandId: command.id, deviceId: id }])
  })
})

test('commands by SMS go to at most five numbers of a device a day', async () => {
  const account = await openAccount()
  const { device } = (await account.call('POST', '/api/devices', { body: { name: 'Tern' } })).body
  const sendTo = async (last: number) => {
    const body = { min: `+88163200000${last}` }
    await account.call('PATCH', `/api/devices/${device.id}`, { body })
    return send(account, device.id, { command: 'RESET', sms: true })
  }
  for (const last of [1, 2, 3, 4, 5, 1]) expect((await sendTo(last)).status).toBe(200)
  const { status, headers, body } = await sendTo(6)
  expect([status, body.code]).toEqual([429, 'too-many-requests'])
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
  expect((await sendTo(5)).status).toBe(200)
})

test('numbers of deleted devices count for the account', async () => {
  const account = await openAccount({ licenses: 1 })
  const sendTo = async (last: number) => {
    const min = `+88163200000${last}`
    const { body } = await account.call('POST', '/api/devices', { body: { name: 'Tern', min } })
    const { status } = await send(account, body.device.id, { command: 'RESET', sms: true })
    await account.call('DELETE', `/api/devices/${body.device.id}`)
    return status
  }
  for (const last of [1, 2, 3, 4, 5, 1]) expect(await sendTo(last)).toBe(200)
  expect(await sendTo(6)).toBe(429)
  expect(await sendTo(5)).toBe(200)
})

describe('a conversation', () => {
  test('has the messages of the device and the commands to it, the newest first', async () => {
    const account = await openAccount()
    const { imei, id, source } = await makeReached(account, 'garmin', GARMIN)
    const at = Date.now() - 60_000
    await source.push(garminPush([garminEvent(imei, at, { messageCode: 3, freeText: 'Help?' })]))
    const { body: sent } = await send(account, id, { command: 'On our way.' })
    const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
    expect(commands).toMatchObject([
      { received: false, command: 'On our way.', status: 'sent' },
      { received: true, command: 'Help?', status: 'delivered' },
    ])
    const path = `/api/devices/${id}/commands/${sent.command.id}`
    expect((await account.call('GET', path)).body.command).toEqual(commands[0])
  })
})

describe('access', () => {
  test('a person signed in with a password needs the privilege execute, and sees the group', async () => {
    const account = await openAccount()
    const { id } = await makeReached(account, 'garmin', GARMIN)
    const path = `/api/devices/${id}/sendCommand`
    const { body: group } = await account.call('POST', '/api/groups', { body: { name: 'Empty' } })
    for (const [members, status] of [
      [{ privileges: ['read', 'execute'] }, 200],
      [{ privileges: ['read', 'write'] }, 403],
      [{ privileges: ['read', 'execute'], group: group.id }, 404],
    ] as const) {
      const session = await signIn(account, await createSignInUser(account, members))
      const { body: me } = await call('GET', '/api/me', { token: session.token })
      expect(me.scopes.includes('execute')).toBe(members.privileges.includes('execute' as never))
      const reply = await call('POST', path, { token: session.token, body: { command: 'Hi' } })
      expect(reply.status).toBe(status)
    }
  })

  test('wants execute, a channel and an active device', async () => {
    const account = await openAccount()
    const { id } = await makeReached(account, 'garmin', GARMIN)
    const path = `/api/devices/${id}/sendCommand`
    for (const [scope, status] of [
      ['write', 403],
      ['execute', 200],
    ] as const) {
      const token = await fetchTokenWithScopes(account, [scope])
      expect((await call('POST', path, { token, body: { command: 'Hi' } })).status).toBe(status)
    }
    const { device } = (await account.call('POST', '/api/devices', { body: { name: 'x' } })).body
    for (const body of [{ command: 'Hi' }, { command: 'Hi', sms: true }])
      expect((await send(account, device.id, body)).body.code).toBe('no-command-channel')
    const bare = await makeReached(account, 'garmin', { apiKey: 'ok' })
    expect((await send(account, bare.id, { command: 'Hi' })).body.code).toBe('no-command-channel')
  })
})
