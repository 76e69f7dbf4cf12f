import { runInDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { hashLink } from '../../src/ids.ts'
import { findCalledAlert, findLinkedAlert } from '../../src/links/store.ts'
import {
  callerWith,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../support/accounts.ts'
import { raiseAlert } from '../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../support/alerts/messages.ts'
import { createDevice } from '../support/devices.ts'
import { readEvents } from '../support/feed/events.ts'
import { call, ORIGIN } from '../support/http.ts'
import { ledgerStub } from '../support/ledger.ts'
import { iso } from '../support/time.ts'
import { createUser } from '../support/users.ts'
import { recordCell, rowsReadBy } from './db/recordedCell.ts'

const LINK = /\/a\/([0-9a-z]{16})/
const MINUTE = 60_000
const DAY = 1440 * MINUTE

let account: TestAccount
let device: string
let user: { id: string; email: string }

beforeEach(async () => {
  account = await openAccount()
  user = await createUser(account, { name: 'Ana <b>Lopes</b>' })
  device = await createDevice(account, { name: 'Tern "7" <i>' })
})

const linkIn = (text: string): string => LINK.exec(text)?.[1] ?? ''

/** Raises an alert and returns it with the links that its messages carry, by recipient. */
const raise = async (members: object = {}) => {
  const { alert } = (await raiseAlert(account, device, { alertName: 'SOSButton', ...members })).body
  await waitUntilSent(account)
  const messages = await readMessages(account, `?alertId=${alert.id}`)
  const links = Object.fromEntries(
    messages.map(({ to, text }: { to: string; text: string }) => [to, linkIn(text)]),
  )
  return { alert, links, link: links[user.email] as string }
}
const readAlert = async (id: string) => (await account.call('GET', `/api/alerts/${id}`)).body.alert

const open = (method: string, link: string) => call(method, `/a/${link}`)

/** The headers that do not differ by request. */
const headersOf = ({ headers }: { headers: Headers }) =>
  [...headers].filter(([name]) => name !== 'x-request-id')

describe('the page of a link', () => {
  test('shows the alert, and neither GET nor HEAD changes anything', async () => {
    const at = Date.now() - 60_000
    const { alert, link } = await raise({
      dateTime: iso(at),
      text: '<script>alert(1)</script>',
      latitude: 38.7223,
      longitude: -9.1393,
    })
    const page = await open('GET', link)
    expect(page.status).toBe(200)
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/)
    for (const part of [
      'SOS button: Tern &quot;7&quot; &lt;i&gt;',
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      '38.72230, -9.13930',
      'https://www.openstreetmap.org/?mlat=38.72230&amp;mlon=-9.13930',
      '(Europe/Lisbon)',
      'Nobody has acknowledged it yet',
      'geo:38.72230,-9.13930',
      '<svg class="map"',
      '<form method="post"><button>Acknowledge</button></form>',
      'Ana &lt;b&gt;Lopes&lt;/b&gt;',
    ])
      expect(page.text).toContain(part)
    expect(page.text).not.toMatch(/<script|<i>|<b>/)
    const head = await open('HEAD', link)
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await readAlert(alert.id)).acknowledged).toBe(false)
  })

  test('is strict: no script, no referrer, no copy, no frame', async () => {
    const { link } = await raise()
    for (const one of [link, 'wrong']) {
      const { headers, text } = await open('GET', one)
      const policy = headers.get('Content-Security-Policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("form-action 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/script-src|unsafe/)
      expect(headers.get('Referrer-Policy')).toBe('no-referrer')
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('X-Robots-Tag')).toContain('noindex')
      expect(text).not.toMatch(/<script|\son\w+=|style=/)
    }
  })

  test('says how old a last known position is, or that none is known', async () => {
    const { link: without } = await raise()
    expect((await open('GET', without)).text).toContain('No position known')
    const at = Date.now()
    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: iso(at - 3 * DAY - 1000), latitude: 1, longitude: 2 },
    })
    const { link } = await raise({ dateTime: iso(at), alertName: 'CriticalAlert' })
    expect((await open('GET', link)).text).toContain('Last known position, 3 days before the alert')
  })

  test('has the newest position, the first one, and the age of both', async () => {
    const at = Date.now()
    const { alert, link } = await raise({ dateTime: iso(at - 50 * MINUTE) })
    const none = (await open('GET', link)).text
    expect(none).toContain('No position known')
    expect(none).not.toContain('<svg')

    const joined = { dateTime: iso(at - 30 * MINUTE - 1000), latitude: 10, longitude: 20 }
    expect((await raise(joined)).alert.id).toBe(alert.id)
    const only = (await open('GET', link)).text
    expect(only).toMatch(/<dt>Position<\/dt><dd><strong class="place">10.00000, 20.00000/)
    expect(only).toContain('30 minutes ago, ')

    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: iso(at - 5 * MINUTE - 1000), latitude: 10, longitude: 20.1 },
    })
    expect((await open('GET', link)).text).toMatch(/<strong class="place">10.00000, 20.10000/)
  })

  test('has first and newest position of one that was raised with a place', async () => {
    const at = Date.now()
    const first = { dateTime: iso(at - 50 * MINUTE - 1000), latitude: 10, longitude: 179.9 }
    const { link } = await raise(first)
    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: iso(at - 5 * MINUTE - 1000), latitude: 10, longitude: -179.9 },
    })
    const { text } = await open('GET', link)
    expect(text).toMatch(/Newest position<\/dt><dd>[^<]*<strong class="place">10.00000, -179.90000/)
    expect(text).toMatch(/First position<\/dt><dd>[^<]*<strong class="place">10.00000, 179.90000/)
    for (const part of ['5 minutes ago', '50 minutes ago', '21.9 km from the first'])
      expect(text).toContain(part)
    // On both sides of the antimeridian, yet near to each other on the map.
    const [x1 = 0, x2 = 0] = [...text.matchAll(/<circle[^>]* cx="([\d.]+)"/g)].map(([, x]) =>
      Number(x),
    )
    expect(x2 - x1).toBeGreaterThan(0)
    expect(x2 - x1).toBeLessThan(20)
  })

  test.each(['resolve', 'cancel'])('shows no later place once it is over: %s', async (action) => {
    const at = Date.now()
    const { alert, link } = await raise({
      dateTime: iso(at - 50 * MINUTE),
      latitude: 10,
      longitude: 20,
    })
    await raise({ dateTime: iso(at - 40 * MINUTE), latitude: 10, longitude: 21 })
    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: iso(at - 5 * MINUTE), latitude: 10, longitude: 22 },
    })
    expect((await open('GET', link)).text).toContain('10.00000, 22.00000')
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    expect((await open('GET', link)).text).toContain('10.00000, 22.00000')
    await account.call('POST', `/api/alerts/${alert.id}/${action}`, { body: {} })
    const over = (await open('GET', link)).text
    expect(over).not.toContain('22.00000')
    expect(over).toMatch(/Newest position<\/dt><dd>[^<]*<strong class="place">10.00000, 21.00000/)
  })

  test('says that the alert is resolved, by whom, and what it was reopened to', async () => {
    const { alert, link } = await raise()
    await account.call('POST', `/api/alerts/${alert.id}/resolve`, { body: {} })
    const over = (await open('GET', link)).text
    expect(over).toMatch(/<strong>Resolved<\/strong> by [^,<]+, /)
    expect(over).not.toContain('<form')
    await account.call('POST', `/api/alerts/${alert.id}/reopen`, { body: {} })
    const again = (await open('GET', link)).text
    expect(again).toContain('Nobody has acknowledged it yet')
    expect(again).toContain('<form')
  })

  test('acknowledges by POST as its recipient, once', async () => {
    const bob = await createUser(account, { name: 'Bob' })
    const { alert, link, links } = await raise()
    const done = await open('POST', link)
    expect(done.status).toBe(200)
    expect(done.text).toContain('<strong>Acknowledged</strong> by Ana &lt;b&gt;Lopes&lt;/b&gt;, ')
    expect(done.text).not.toContain('<form')
    const first = await readAlert(alert.id)
    expect(first).toMatchObject({ acknowledged: true, acknowledgedBy: user.id })

    const later = await open('POST', links[bob.email] as string)
    expect(later.status).toBe(200)
    expect(later.text).toContain('Ana &lt;b&gt;')
    expect(await readAlert(alert.id)).toEqual(first)
    expect(await readEvents(account, 'alert.acknowledged')).toMatchObject([
      { alertId: alert.id, acknowledgedBy: user.id },
    ])
  })

  test('of one recipient, twice at once and with another’s, is one acknowledgement', async () => {
    const bob = await createUser(account, { name: 'Bob' })
    const { alert, link, links } = await raise()
    const replies = await Promise.all(
      [link, link, links[bob.email] as string, link].map((one) => open('POST', one)),
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect([user.id, bob.id]).toContain((await readAlert(alert.id)).acknowledgedBy)
    expect(await readEvents(account, 'alert.acknowledged')).toHaveLength(1)
  })

  test('a form of a browser works, whatever it sends as its body', async () => {
    const { alert, link } = await raise()
    const response = await exports.default.fetch(`${ORIGIN}/a/${link}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'null' },
      body: '',
    })
    expect(response.status).toBe(200)
    expect((await readAlert(alert.id)).acknowledged).toBe(true)
  })
})

describe('a link that cannot be used', () => {
  test('gets the same page and status, whatever is wrong, and acknowledges nothing', async () => {
    const { alert, link } = await raise()
    const forged = `${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`
    const otherCell = `01${link.slice(2)}`
    const { link: expired, alert: old } = await raise({ dateTime: iso(Date.now() - 3 * 3_600_000) })
    await env.DB.prepare('UPDATE messages SET link_expires = ? WHERE account_id = ? AND id LIKE ?')
      .bind(Date.now() - 1, account.id, `msg_${old.id.slice(4)}%`)
      .run()
    const wrong = [
      forged,
      otherCell,
      `zz${link.slice(2)}`,
      expired,
      link.toUpperCase(),
      link.slice(1),
      `${link}0`,
      'x',
      '%00',
      '%ff',
      ':link',
      'a'.repeat(3000),
    ]
    const expected = await open('GET', 'nothing')
    expect(expected.status).toBe(404)
    expect(expected.text).toContain('This link is not valid')
    for (const one of wrong)
      for (const method of ['GET', 'POST']) {
        const reply = await open(method, one)
        expect([reply.status, reply.text], `${method} ${one}`).toEqual([404, expected.text])
        expect(headersOf(reply), `${method} ${one}`).toEqual(headersOf(expected))
      }
    for (const { id } of [alert, old]) expect((await readAlert(id)).acknowledged).toBe(false)
  })

  test('holds for seven days', async () => {
    const { link } = await raise()
    const expires = await env.DB.prepare(
      'SELECT link_expires - changed AS ms FROM messages WHERE account_id = ? AND link_hash NOTNULL',
    )
      .bind(account.id)
      .first<number>('ms')
    expect(Math.abs((expires ?? 0) - 7 * DAY)).toBeLessThan(60_000)
    expect((await open('GET', link)).status).toBe(200)
  })

  test.each([
    ['disabled', { disabled: true }],
    ['not yet active', { from: iso(Date.now() + DAY) }],
    ['no longer active', { from: iso(0), expires: iso(Date.now() - 1000) }],
  ])('stops when its user is %s', async (_, change) => {
    const { alert, link } = await raise()
    const changed = await account.call('PATCH', `/api/users/${user.id}`, { body: change })
    expect(changed.status, changed.text).toBe(200)
    for (const method of ['GET', 'POST']) expect((await open(method, link)).status).toBe(404)
    expect((await readAlert(alert.id)).acknowledged).toBe(false)
    await account.call('PATCH', `/api/users/${user.id}`, {
      body: { disabled: false, from: null, expires: null },
    })
    expect((await open('GET', link)).status).toBe(200)
  })

  test('stops when its user is deleted, or can no longer see the device', async () => {
    const { link } = await raise()
    const group = (await account.call('POST', '/api/groups', { body: { name: 'Others' } })).body
    await account.call('PATCH', `/api/users/${user.id}`, { body: { group: group.id } })
    expect((await open('GET', link)).status).toBe(404)
    await account.call('PATCH', `/api/users/${user.id}`, { body: { group: null } })
    expect((await open('GET', link)).status).toBe(200)
    await account.call('DELETE', `/api/users/${user.id}`)
    expect((await open('GET', link)).status).toBe(404)
  })

  test('stops when the device is deleted', async () => {
    const { link } = await raise()
    await account.call('DELETE', `/api/devices/${device}`)
    for (const method of ['GET', 'POST']) expect((await open(method, link)).status).toBe(404)
  })
})

describe('a link in the list of messages', () => {
  test('is shown to admin alone where nothing is sent, and stored as a hash', async () => {
    const { link } = await raise()
    expect(link).toMatch(/^00[0-9a-z]{14}$/)
    const reader = callerWith(await fetchTokenWithScopes(account, ['write']))
    const [message] = await readMessages(reader)
    expect(message.text).toContain(`${ORIGIN}/a/…`)
    expect(message.text).not.toMatch(LINK)
    const row = await env.DB.prepare(
      'SELECT link_hash, user_id, text FROM messages WHERE account_id = ?',
    )
      .bind(account.id)
      .first<{ link_hash: string; user_id: string; text: string }>()
    expect(row).toMatchObject({ user_id: user.id })
    expect(row?.link_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(row?.text).not.toContain(link)
  })

  test('is another for each recipient and channel', async () => {
    await createUser(account, { phone: '+351910000031', notify: { email: true, sms: true } })
    const { links } = await raise()
    expect(new Set(Object.values(links)).size).toBe(3)
  })

  test('is new after a retry, and the old one stops', async () => {
    const { alert, link } = await raise()
    const [{ id }] = await readMessages(account, `?alertId=${alert.id}`)
    await env.DB.prepare("UPDATE messages SET status = 'failed' WHERE account_id = ?")
      .bind(account.id)
      .run()
    await runInDurableObject(ledgerStub(account), (_, state) => {
      state.storage.sql.exec("UPDATE messages SET status = 'failed'")
    })
    const retried = await account.call('POST', `/api/account/messages/${id}/retry`)
    expect(retried.status, retried.text).toBe(200)
    expect(retried.body.message.text).not.toMatch(LINK)
    await waitUntilSent(account)
    const [again] = await readMessages(account, `?alertId=${alert.id}`)
    const newLink = linkIn(again.text)
    expect(newLink).toMatch(/^[0-9a-z]{16}$/)
    expect(newLink).not.toBe(link)
    expect((await open('GET', link)).status).toBe(404)
    expect((await open('GET', newLink)).status).toBe(200)
  })
})

describe('an emergency contact', () => {
  test('acknowledges by its own name, until it is removed from the account', async () => {
    const contact = { name: 'Coast guard', email: 'guard@example.com' }
    await account.call('PATCH', '/api/account', { body: { emergencyContacts: [contact] } })
    await account.call('PATCH', `/api/users/${user.id}`, {
      body: { notify: { email: false, sms: false } },
    })
    const { alert, links } = await raise()
    const link = links['guard@example.com'] as string
    const page = await open('GET', link)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Coast guard')
    await account.call('PATCH', '/api/account', { body: { emergencyContacts: [] } })
    expect((await open('POST', link)).status).toBe(404)
    await account.call('PATCH', '/api/account', { body: { emergencyContacts: [contact] } })
    expect((await open('POST', link)).status).toBe(200)
    expect(await readAlert(alert.id)).toMatchObject({
      acknowledged: true,
      acknowledgedBy: 'Coast guard',
    })
  })

  test('named like the user or key of another account shows nothing of it', async () => {
    const other = await openAccount()
    const secret = await createUser(other, { name: 'Secret Agent' })
    const { body } = await other.call('POST', '/api/account/keys', {
      body: { name: 'Secret Plan', scopes: ['read'] },
    })
    await account.call('PATCH', `/api/users/${user.id}`, { body: { notify: { email: false } } })
    for (const name of [secret.id, body.key.id]) {
      const contact = { name, email: 'guard@example.com' }
      await account.call('PATCH', '/api/account', { body: { emergencyContacts: [contact] } })
      const device = await createDevice(account)
      const { alert } = (await raiseAlert(account, device, { alertName: 'SOSButton' })).body
      await waitUntilSent(account)
      const messages = await readMessages(account, `?alertId=${alert.id}`)
      const sent = messages.find(({ to }: { to: string }) => to === contact.email)
      const page = await open('POST', linkIn(sent.text))
      expect(page.text).toContain(`${name}, `)
      expect(page.text).not.toContain('Secret')
    }
  })
})

test('a message that names neither user nor contact belongs to whoever has its address', async () => {
  const { alert, link } = await raise()
  await env.DB.prepare('UPDATE messages SET user_id = NULL WHERE account_id = ?')
    .bind(account.id)
    .run()
  expect((await open('POST', link)).status).toBe(200)
  expect(await readAlert(alert.id)).toMatchObject({ acknowledgedBy: user.id })
  await account.call('PATCH', `/api/users/${user.id}`, { body: { disabled: true } })
  expect((await open('GET', link)).status).toBe(404)
})

test('finding a link or a call reads a few rows, however many messages there are', async () => {
  const notify = { email: false, sms: false, push: false, voice: true }
  await createUser(account, { phone: '+351910000071', notify })
  const { link } = await raise()
  const [message] = await readMessages(account, '?channel=Email')
  const [{ id: messageId }] = await readMessages(account, '?channel=Voice')
  await env.DB.prepare(
    `INSERT INTO messages (account_id, id, device_key, channel, recipient, subject, text, status, attempts, changed, seq, link_hash, link_expires)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
     SELECT account_id, 'msg_x' || i, device_key, channel, recipient, subject, text, status, 1, 0, 0, 'x' || i, link_expires
     FROM messages, n WHERE id = ?`,
  )
    .bind(message.id)
    .run()
  const { db, statements } = recordCell()
  expect(await findLinkedAlert(db, await hashLink(link), Date.now())).not.toBeNull()
  expect(await rowsReadBy(statements)).toBeLessThan(20)
  const called = recordCell()
  const about = { accountId: account.id, messageId, now: Date.now() }
  expect(await findCalledAlert(called.db, about)).not.toBeNull()
  expect(await rowsReadBy(called.statements)).toBeLessThan(20)
})
