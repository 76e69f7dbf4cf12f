import { expect, test } from 'vitest'
import { createDevice, createWebhook, receiver } from './eventSupport.ts'
import { openAccount } from './support.ts'

test('a webhook is brought what happens', async () => {
  const account = await openAccount()
  const at = receiver()
  await createWebhook(account, { url: at.url() })
  const device = await createDevice(account, 'Tern 1')
  const [call] = await at.called(1)
  expect(call?.events).toMatchObject([{ type: 'device.created', data: { deviceId: device, name: 'Tern 1' } }])
})
