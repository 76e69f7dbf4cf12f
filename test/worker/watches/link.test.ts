import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createWatch, inMinutes, readWatch } from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'
import { readEvents } from '../../support/feed/events.ts'
import { call, callAsOperator } from '../../support/http.ts'

const HOUR = 3_600_000

let account: TestAccount
let device: string

beforeEach(async () => {
  account = await openAccount({ timeZone: 'Europe/Lisbon' })
  device = await createDevice(account, { name: 'Tern "7" <i>' })
})

const start = async (members: object = {}) => {
  const { id } = await createWatch(account, device, { counts: 'checkIn', ...members })
  const { url } = (await account.call('POST', `/api/watches/${id}/link`)).body
  return { id: id as string, path: new URL(url).pathname }
}

describe('the page of a watch', () => {
  test('shows what is expected, and neither GET nor HEAD checks in', async () => {
    const { id, path } = await start({ name: 'To <b>Faial</b>' })
    expect(path).toMatch(/^\/c\/[0-9a-z]{16}$/)
    const page = await call('GET', path)
    expect(page.status).toBe(200)
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/)
    for (const part of [
      'Check-in: Tern &quot;7&quot; &lt;i&gt;',
      'To &lt;b&gt;Faial&lt;/b&gt;',
      'Next check-in due',
      '(Europe/Lisbon)',
      'None yet',
      '<form method="post"><button>Check in</button></form>',
    ])
      expect(page.text).toContain(part)
    expect(page.text).not.toMatch(/<script|<i>|<b>|\son\w+=|style=/)
    const head = await call('HEAD', path)
    expect([head.status, head.text]).toEqual([200, ''])
    expect(await readWatch(account, id)).toMatchObject({ state: 'active', lastCheckIn: null })
    expect(await readEvents(account, 'watch.checkedIn')).toEqual([])
  })

  test('checks in by POST, as a person', async () => {
    const { id, path } = await start()
    const before = Date.now()
    const done = await call('POST', path)
    expect(done.status).toBe(200)
    expect(done.text).toContain('<strong>Checked in.</strong>')
    expect(done.text).toContain('<form')
    const { lastCheckIn, nextDue, state } = await readWatch(account, id)
    expect(Date.parse(lastCheckIn)).toBeGreaterThanOrEqual(before)
    expect([state, Date.parse(nextDue) - Date.parse(lastCheckIn)]).toEqual(['active', HOUR])
    expect(await readEvents(account, 'watch.checkedIn')).toMatchObject([
      { watchId: id, counts: 'checkIn' },
    ])
  })

  test('takes a check-in again only after some seconds', async () => {
    const { id, path } = await start()
    for (let n = 0; n < 3; n++)
      expect((await call('POST', path)).text).toContain('<strong>Checked in.</strong>')
    expect(await readEvents(account, 'watch.checkedIn')).toHaveLength(1)
    await env.DB.prepare('UPDATE watches SET last_check_in = last_check_in - 10001 WHERE id = ?')
      .bind(id)
      .run()
    await call('POST', path)
    expect(await readEvents(account, 'watch.checkedIn')).toHaveLength(2)
  })

  test('completes a deadline; a second POST, also at once, changes nothing', async () => {
    const { id, path } = await start({ due: inMinutes(180) })
    const replies = await Promise.all([call('POST', path), call('POST', path)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const first = await readWatch(account, id)
    expect(first.state).toBe('completed')
    const again = await call('POST', path)
    expect([again.status, again.text.includes('Checked in.')]).toEqual([200, false])
    expect(again.text).toContain('<strong>Completed.</strong>')
    expect(again.text).not.toContain('<form')
    expect(await readWatch(account, id)).toEqual(first)
    expect(await readEvents(account, 'watch.checkedIn')).toHaveLength(1)
  })

  test('of a cancelled one says so to whoever has checked in, and offers nothing', async () => {
    const { id, path } = await start()
    await call('POST', path)
    const { lastCheckIn } = await readWatch(account, id)
    await account.call('POST', `/api/watches/${id}/cancel`)
    for (const method of ['GET', 'POST']) {
      const { status, text } = await call(method, path)
      expect([status, text.includes('<form')]).toEqual([200, false])
      expect(text).toContain('<strong>Cancelled.</strong>')
    }
    expect(await readWatch(account, id)).toMatchObject({ state: 'cancelled', lastCheckIn })
  })

  test('says that a check-in is late', async () => {
    const { id, path } = await start({ graceMinutes: 60 })
    const setDue = (ms: number) =>
      env.DB.prepare('UPDATE watches SET next_due = ? WHERE id = ?')
        .bind(Date.now() - ms, id)
        .run()
    await setDue(HOUR / 2)
    expect((await call('GET', path)).text).toContain('<strong>Check in now.</strong>')
    await setDue(2 * HOUR)
    expect((await call('GET', path)).text).toContain('<strong>Overdue.</strong>')
  })

  test('is strict: no script, no referrer, no copy, no frame', async () => {
    const { path } = await start()
    for (const one of [path, '/c/wrong']) {
      const { headers } = await call('GET', one)
      const policy = headers.get('Content-Security-Policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("form-action 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/script-src|unsafe/)
      expect(headers.get('Referrer-Policy')).toBe('no-referrer')
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('X-Robots-Tag')).toContain('noindex')
    }
  })
})

test('every link that cannot be used has the same page, byte for byte', async () => {
  const { id: deleted, path: ofDeleted } = await start()
  await account.call('DELETE', `/api/watches/${deleted}`)
  const { id: ended, path: ofEnded } = await start()
  await account.call('POST', `/api/watches/${ended}/complete`)
  const { id: longAgo, path: ofLongAgo } = await start({ due: inMinutes(180) })
  await call('POST', ofLongAgo)
  const eightDaysAgo = Date.now() - 8 * 24 * HOUR
  await env.DB.prepare('UPDATE watches SET last_check_in = ? WHERE id = ?')
    .bind(eightDaysAgo, longAgo)
    .run()
  const other = device
  device = await createDevice(account, 'Deleted')
  const { path: ofDevice } = await start()
  await account.call('DELETE', `/api/devices/${device}`)
  device = other
  const { path: ofAccount } = await start()
  await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
  // Another cell, of which there may be none; another length; letters that no link has.
  const wrong = [
    '/c/',
    '/c/0000000000000000',
    '/c/zz00000000000000',
    '/c/short',
    '/c/UUUUUUUUUUUUUUUU',
    ofDeleted,
    ofEnded,
    ofLongAgo,
    ofDevice,
    ofAccount,
  ]
  const seen = new Set<string>()
  for (const path of wrong) {
    const { status, text, headers } = await call('GET', path)
    const fixed = [...headers].filter(([name]) => name !== 'x-request-id')
    expect([path, status]).toEqual([path, 404])
    seen.add(JSON.stringify([text, fixed]))
    if (path === '/c/') continue
    const posted = await call('POST', path)
    expect([path, posted.status, posted.text === text]).toEqual([path, 404, true])
  }
  expect(seen.size).toBe(1)
})
