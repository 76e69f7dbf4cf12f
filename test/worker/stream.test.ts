import { expect, test } from 'vitest'
import { createDevice, listen } from './eventSupport.ts'
import { openAccount } from './support.ts'

test('an open stream hears what happens, in sequence', async () => {
  const account = await openAccount()
  const stream = await listen(account)
  await createDevice(account, 'Tern 1')
  await createDevice(account, 'Tern 2')
  const heard = await stream.heard(2)
  expect(heard.map(({ type, data }) => [type, data.name])).toEqual([
    ['device.created', 'Tern 1'],
    ['device.created', 'Tern 2'],
  ])
})
