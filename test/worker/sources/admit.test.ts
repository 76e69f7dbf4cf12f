import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { admitSource } from '../../../src/sources/push/knownSource.ts'
import { openAccount } from '../../support/accounts.ts'
import { makeSource, type TestSource } from '../../support/sources.ts'

/** Admits a push while no ledger can be reached. */
const admit = ({ id, url }: TestSource, secret = url.split('/').at(-1) ?? '') => {
  const get = () => {
    throw new Error('the ledger was asked')
  }
  const idFromName = () => null
  const broken = { ...env, LEDGER: { get, idFromName } } as unknown as Parameters<
    typeof admitSource
  >[0]
  return admitSource(broken, { id, secret, now: Date.now() })
}

test('the ledger is asked for a key only after the secret is known to be right', async () => {
  const source = await makeSource(await openAccount(), 'owntracks')
  expect(await admit(source, 'wrong')).toBeNull()
  await expect(admit(source)).rejects.toThrow('the ledger was asked')
})

test('the ledger is not asked for a provider without encryption', async () => {
  const source = await makeSource(await openAccount(), 'osmand')
  expect(await admit(source)).toMatchObject({ settings: {} })
})
