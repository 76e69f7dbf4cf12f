import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { garminEvent, makeSource, type TestSource } from '../../support/sources.ts'

/*
 * A provider as it is: it sends again what was not answered with its own yes, and what was too; it
 * sends in another order, and several pushes at once.
 */

const seeded = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
  return { next, below: (count: number) => Math.floor(next() * count) }
}

/** The cell, which now and then loses the connection: before a batch is committed, or after it. */
const unreliableCell = (random: ReturnType<typeof seeded>) =>
  random.next() < 0.4
    ? failExecutions(env.DB, {
        pattern: /INSERT INTO "(locations|unclaimed|commands|quarantine|pending_raises)"/,
        // Once is repeated within the request; more often is a 5xx.
        times: 1 + random.below(3),
        isCommitted: random.next() < 0.5,
      }).db
    : env.DB

const pathOf = ({ url }: TestSource) => new URL(url).pathname

/** Delivers every push until it is accepted, up to three at a time, and some of them again. */
const deliver = async (source: TestSource, pushes: object[], seed: number) => {
  const random = seeded(seed)
  const waiting = pushes.flatMap((push) => (random.next() < 0.5 ? [push, push] : [push]))
  const statuses = new Set<number>()
  const send = async () => {
    for (;;) {
      const [push] = waiting.splice(random.below(waiting.length), 1)
      if (!push) return
      const { status, text } = await callWithBindings(
        { DB: unreliableCell(random) },
        'POST',
        pathOf(source),
        { body: push },
      )
      statuses.add(status)
      if (status === 200) expect(text).toBe('')
      else waiting.push(push)
    }
  }
  await Promise.all([send(), send(), send()])
  return statuses
}

const START = Date.now() - 40 * 60_000

const pushesOf = (imei: string) => {
  const at = (minutes: number) => START + minutes * 60_000
  const events = [
    ...Array.from({ length: 8 }, (_, index) => garminEvent(imei, at(index))),
    garminEvent(imei, at(9), { messageCode: 3, freeText: 'On my way.' }),
    garminEvent(imei, at(10), { messageCode: 3, freeText: 'Nearly there.' }),
    garminEvent(imei, at(11), { messageCode: 4 }),
    garminEvent(imei, at(12), { messageCode: 6 }),
  ]
  return events.map((event) => ({ Version: '2.0', Events: [event] }))
}

const stateOf = async (account: TestAccount, id: string) => {
  const { locations } = (await account.call('GET', `/api/devices/${id}/locations`)).body
  const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
  const { alerts } = (await account.call('GET', '/api/alerts')).body
  const { events } = (await account.call('GET', '/api/events?types=message.received')).body
  return {
    times: locations.map(({ dateTime }: { dateTime: string }) => Date.parse(dateTime) - START),
    messages: commands.map(({ command }: { command: string }) => command),
    alerts: alerts.map(({ alerts: [name] }: { alerts: string[] }) => name),
    events: events.length,
  }
}

const EXPECTED = {
  times: [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12].map((minutes) => minutes * 60_000),
  messages: ['Nearly there.', 'On my way.'],
  alerts: ['SOSButton'],
  events: 2,
}

describe('pushes that are repeated, reordered and interrupted', () => {
  test.each([1, 2, 3])('of a known device are all there, once (seed %i)', async (seed) => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const imei = `30043406200000${seed}`
    const id = await createDevice(account, { identifier: imei })
    const statuses = await deliver(source, pushesOf(imei), seed)
    for (const status of statuses) expect([200, 500, 503]).toContain(status)
    expect(await stateOf(account, id)).toEqual(EXPECTED)
  })

  test.each([4, 5])('of an unknown device too, once it is claimed (seed %i)', async (seed) => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const imei = `30043406200000${seed}`
    await deliver(source, pushesOf(imei), seed)
    const path = `/api/sources/${source.id}/unclaimed/${imei}/claim`
    const { body } = await account.call('POST', path, { body: { device: { name: 'Tern' } } })
    expect(body.pending).toBe(0)
    expect(await stateOf(account, body.device.id)).toEqual(EXPECTED)
    // The provider sends all of it again, now to a device.
    await deliver(source, pushesOf(imei), seed + 10)
    expect(await stateOf(account, body.device.id)).toEqual(EXPECTED)
  })

  test('with a cell that never answers get no yes', async () => {
    const account = await openAccount()
    const source = await makeSource(account, 'garmin')
    const DB = failExecutions(env.DB, { pattern: /unclaimed/, times: 1000 }).db
    const [body] = pushesOf('300434062000009')
    const { status } = await callWithBindings({ DB }, 'POST', pathOf(source), { body })
    expect(status).toBeGreaterThanOrEqual(500)
    const { unclaimed } = (await account.call('GET', `/api/sources/${source.id}/unclaimed`)).body
    expect(unclaimed).toEqual([])
  })
})
