import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchToken, openAccount } from '../../support/accounts.ts'
import { callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import {
  type Command,
  commands,
  dateOf,
  LICENSES,
  limitsUntil,
  Model,
  SEED,
  START,
} from './model.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }))
afterEach(() => void vi.useRealTimers())

test('fifty runs of fifty commands agree with the model, over HTTP', async () => {
  console.info(`seed ${SEED}`)
  const run = async (script: Command[]) => {
    vi.setSystemTime(START)
    const account = await openAccount({ licenses: LICENSES })
    const model = new Model(LICENSES)
    const ids: string[] = []
    let token = account.token
    let made = 0
    const call = (method: string, path: string, body?: unknown) =>
      account.call(method, path, { token, ...(body !== undefined && { body }) })

    const execute = async (command: Command) => {
      const path =
        'which' in command ? `/api/devices/${ids[command.which % ids.length]}` : '/api/devices'
      switch (command.do) {
        case 'create': {
          const reply = await call('POST', path, {
            name: `n${++made}`,
            limits: limitsUntil(dateOf(command.ends)),
          })
          if (reply.status === 201) ids.push(reply.body.device.id)
          return reply
        }
        case 'reactivate':
          return call('POST', `${path}/reactivate`, { expirationDate: dateOf(command.ends) })
        case 'replace':
          return call('PUT', path, {
            name: `n${++made}`,
            limits: limitsUntil(dateOf(command.ends)),
          })
        case 'patch':
          return call('PATCH', path, [
            { op: 'replace', path: '/limits', value: limitsUntil(dateOf(command.ends)) },
          ])
        case 'remove':
          ids.splice(command.which % ids.length, 1)
          return call('DELETE', path)
        case 'total':
          return callAsOperator('PATCH', `/admin/accounts/${account.id}`, {
            body: { licenses: command.total },
          })
        case 'zone':
          return call('PATCH', '/api/account', { timeZone: command.zone })
        case 'sweep':
          await sweep(env, Date.now())
          // The sweep visits only accounts with something due; this call shows the ledger the new day.
          return call('GET', '/api/account')
        case 'clock':
          vi.setSystemTime(model.now)
          token = await fetchToken(account.userName, account.apiKey)
          return null
        case 'evict':
          // The second of two evictions in a row finds nothing to evict.
          await evictDurableObject(ledgerStub(account)).catch(() => {})
          return null
      }
    }

    for (const command of script) {
      if ('which' in command && ids.length === 0) continue
      const expected = model.apply(command)
      const reply = await execute(command)
      expect(!reply || reply.status < 300 ? 'ok' : reply.body.code).toBe(expected)
    }
    model.advanceToToday()
    expect((await call('GET', '/api/account')).body.account.licenses).toMatchObject({
      used: model.used(),
      total: model.total,
    })
    const { devices } = (await call('GET', '/api/devices')).body
    const active = devices.filter(({ state }: { state: string }) => state === 'active')
    expect([devices.length, active.length]).toEqual([model.devices.length, model.used()])
  }
  await fc.assert(fc.asyncProperty(commands, run), { numRuns: 50, seed: SEED, endOnFailure: true })
}, 300_000)
