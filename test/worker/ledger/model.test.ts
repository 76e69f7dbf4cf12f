import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AccountLedger } from '../../../src/ledger/ledger.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchToken, openAccount } from '../../support/accounts.ts'
import { callAsOperator } from '../../support/http.ts'
import { type Command, commands, dateOf, Model, START } from './model.ts'

const SEED = Number(env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
const LICENSES = 3

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }))
afterEach(() => void vi.useRealTimers())

const limits = (date: string | null) => ({
  expires: date !== null,
  expirationDate: date,
  dailyEmailLimit: 100,
  dailySmsLimit: 20,
})
const record = (date: string | null, mark: number) => ({
  name: `n${mark}`,
  description: '',
  min: '',
  identifier: null,
  model: '',
  tags: {},
  limits: limits(date),
})
const NOBODY = { userId: null, groupId: null, cap: null }

/** A database that accepts every statement: other tests cover the projection. */
const statement = { bind: () => statement }
const acceptingDatabase = { prepare: () => statement, batch: async () => [] }

test('a thousand runs of fifty commands agree with the model, inside the object', async () => {
  console.info(`seed ${SEED}`)
  const stub = env.LEDGER.get(env.LEDGER.idFromName('model'))
  await runInDurableObject(stub, async (_, state) => {
    const world = { ...env, DB: acceptingDatabase } as unknown as typeof env
    const run = async (script: Command[]) => {
      await state.storage.deleteAll()
      vi.setSystemTime(START)
      let ledger = new AccountLedger(state, world)
      const model = new Model(LICENSES)
      await ledger.open({
        id: 'acc_model',
        number: 1,
        cell: 0,
        userName: 'model',
        name: 'Model',
        timeZone: 'UTC',
        total: LICENSES,
      })
      const ids: string[] = []
      let made = 0

      const carryOut = async (
        command: Command,
      ): Promise<{ ok: boolean; refusal?: string; availableAt?: number | null }> => {
        const id = 'which' in command ? (ids[command.which % ids.length] ?? '') : ''
        switch (command.do) {
          case 'create': {
            const outcome = await ledger.create(
              `dev_${++made}`,
              record(dateOf(command.ends), made),
              NOBODY,
            )
            if (outcome.ok) ids.push(outcome.device.id)
            return outcome
          }
          case 'reactivate':
            return ledger.reactivate(id, dateOf(command.ends))
          case 'replace':
          case 'patch':
            return ledger.replace(id, record(dateOf(command.ends), ++made), null)
          case 'remove':
            ids.splice(ids.indexOf(id), 1)
            return ledger.remove(id, null)
          case 'total':
            return ledger.change({ total: command.total }, null)
          case 'zone':
            return ledger.change({ timeZone: command.zone }, null)
          case 'sweep':
            await ledger.sweep()
            return { ok: true }
          case 'clock':
            vi.setSystemTime(model.now)
            return { ok: true }
          case 'evict':
            ledger = new AccountLedger(state, world)
            return { ok: true }
        }
      }

      for (const command of script) {
        if ('which' in command && ids.length === 0) continue
        const expected = model.apply(command)
        const outcome = await carryOut(command)
        expect(outcome.ok ? 'ok' : outcome.refusal).toBe(expected)
        if (outcome.refusal === 'no-license-available' && command.do !== 'zone')
          expect(outcome.availableAt).toBe(model.availableAt())
        if (command.do === 'clock' || command.do === 'evict') continue
        const seen = await ledger.account()
        if (!seen.ok) throw new Error('the account is gone')
        expect({
          used: seen.account.used,
          total: seen.account.total,
          day: seen.account.day,
        }).toEqual({
          used: model.used(),
          total: model.total,
          day: model.day,
        })
      }
      model.advanceToToday()
      await ledger.sweep()
      const { lines } = await ledger.licenseLog(null, 1000)
      expect(lines.filter(({ what }) => what === 'expired')).toHaveLength(model.expiries)
      for (const line of lines)
        if (line.what === 'granted') expect(line.used).toBeLessThanOrEqual(line.total)
    }
    await fc.assert(fc.asyncProperty(commands, run), {
      numRuns: 1000,
      seed: SEED,
      endOnFailure: true,
    })
  })
}, 300_000)

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

    const carryOut = async (command: Command) => {
      const path =
        'which' in command ? `/api/devices/${ids[command.which % ids.length]}` : '/api/devices'
      switch (command.do) {
        case 'create': {
          const reply = await call('POST', path, {
            name: `n${++made}`,
            limits: limits(dateOf(command.ends)),
          })
          if (reply.status === 201) ids.push(reply.body.device.id)
          return reply
        }
        case 'reactivate':
          return call('POST', `${path}/reactivate`, { expirationDate: dateOf(command.ends) })
        case 'replace':
          return call('PUT', path, { name: `n${++made}`, limits: limits(dateOf(command.ends)) })
        case 'patch':
          return call('PATCH', path, [
            { op: 'replace', path: '/limits', value: limits(dateOf(command.ends)) },
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
          // The sweep skips accounts without a due expiry: this call advances the ledger’s day too.
          return call('GET', '/api/account')
        case 'clock':
          vi.setSystemTime(model.now)
          token = await fetchToken(account.userName, account.apiKey)
          return null
        case 'evict':
          // It may be evicted already.
          await evictDurableObject(env.LEDGER.get(env.LEDGER.idFromName(account.id))).catch(
            () => {},
          )
          return null
      }
    }

    for (const command of script) {
      if ('which' in command && ids.length === 0) continue
      const expected = model.apply(command)
      const reply = await carryOut(command)
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
