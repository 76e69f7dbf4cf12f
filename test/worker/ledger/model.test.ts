import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AccountLedger } from '../../../src/ledger/ledger.ts'
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

const record = (date: string | null, number: number) => ({
  name: `n${number}`,
  description: '',
  min: '',
  identifier: null,
  model: '',
  tags: {},
  limits: limitsUntil(date),
})
const NOBODY = { userId: null, groupId: null, cap: null }

/** A cell that accepts every statement at once: other tests check the projection. */
const statement = { bind: () => statement }
const acceptingDatabase = {
  prepare: () => statement,
  batch: async (statements: unknown[]) => statements.map(() => ({ results: [] })),
}

test('a thousand runs of fifty commands agree with the model, inside the object', async () => {
  console.info(`seed ${SEED}`)
  const stub = env.LEDGER.get(env.LEDGER.idFromName('model'))
  await runInDurableObject(stub, async (_, state) => {
    const bindings = { ...env, DB: acceptingDatabase } as unknown as typeof env
    const run = async (script: Command[]) => {
      await state.storage.deleteAll()
      vi.setSystemTime(START)
      let ledger = new AccountLedger(state, bindings)
      const model = new Model(LICENSES)
      await ledger.openAccount({
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

      const execute = async (
        command: Command,
      ): Promise<{ ok: boolean; refusal?: string; availableAt?: number | null }> => {
        const id = 'which' in command ? (ids[command.which % ids.length] ?? '') : ''
        switch (command.do) {
          case 'create': {
            const outcome = await ledger.createDevice(
              `dev_${++made}`,
              record(dateOf(command.ends), made),
              NOBODY,
            )
            if (outcome.ok) ids.push(outcome.device.id)
            return outcome
          }
          case 'reactivate':
            return ledger.reactivateDevice(id, dateOf(command.ends))
          case 'replace':
          case 'patch':
            return ledger.editDevice(id, record(dateOf(command.ends), ++made), null)
          case 'remove':
            ids.splice(ids.indexOf(id), 1)
            return ledger.deleteDevice(id, null)
          case 'total':
            return ledger.editAccount({ total: command.total }, null)
          case 'zone':
            return ledger.editAccount({ timeZone: command.zone }, null)
          case 'sweep':
            await ledger.recordExpirations()
            return { ok: true }
          case 'clock':
            vi.setSystemTime(model.now)
            return { ok: true }
          case 'evict':
            ledger = new AccountLedger(state, bindings)
            return { ok: true }
        }
      }

      for (const command of script) {
        if ('which' in command && ids.length === 0) continue
        const expected = model.apply(command)
        const outcome = await execute(command)
        expect(outcome.ok ? 'ok' : outcome.refusal).toBe(expected)
        if (outcome.refusal === 'no-license-available' && command.do !== 'zone')
          expect(outcome.availableAt).toBe(model.availableAt())
        if (command.do === 'clock' || command.do === 'evict') continue
        const seen = await ledger.readAccount()
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
      await ledger.recordExpirations()
      const { lines } = await ledger.readLicenseLog(null, 1000)
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
}, 900_000)
