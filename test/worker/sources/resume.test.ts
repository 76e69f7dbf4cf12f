import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount } from '../../support/accounts.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'

test('the sweep moves reports whose identifier a device has by now', async () => {
  const account = await openAccount()
  const source = await makeSource(account, 'garmin')
  const at = Date.now() - 600_000
  await source.push(garminPush([garminEvent('300434060000000', at, { freeText: 'Hello' })]))
  // The identifier is given without a claim, as a crash after the ledger's decision leaves it.
  const { device } = (
    await account.call('POST', '/api/devices', {
      body: { name: 'Tern', identifier: '300434060000000' },
    })
  ).body
  await sweep(env, Date.now())
  const { locations } = (await account.call('GET', `/api/devices/${device.id}/locations`)).body
  expect(locations).toHaveLength(1)
  const { unclaimed } = (await account.call('GET', `/api/sources/${source.id}/unclaimed`)).body
  expect(unclaimed).toEqual([])
  const { commands } = (await account.call('GET', `/api/devices/${device.id}/commands`)).body
  expect(commands).toMatchObject([{ received: true, command: 'Hello' }])
})
