import { expect, test } from 'vitest'
import type { Account, Device, User } from '../../../../console/api/types.ts'
import { receiversOf } from '../../../../console/pages/devices/drillReceivers.ts'

const NOW = '2026-11-17T12:00:00.000Z'
const user = (name: string, members: Partial<User> = {}): User =>
  ({
    id: `usr_${name}`,
    name,
    phone: null,
    notify: { email: true, sms: true },
    disabled: false,
    from: null,
    expires: null,
    groupId: null,
    ...members,
  }) as User

const device = { groups: ['grp_1'] } as Device
const account = {
  emergencyContacts: [{ name: 'Harbour', email: 'h@example.com', phone: '+351910000099' }],
} as Account

test('those who get messages of a test are those who get them of an emergency', () => {
  const users = [
    user('Ana', { phone: '+351910000001' }),
    user('Bob'),
    user('Eve', { groupId: 'grp_1' }),
    user('Stranger', { groupId: 'grp_2' }),
    user('Disabled', { disabled: true }),
    user('Past', { expires: '2026-11-17T11:59:59.000Z' }),
    user('Future', { from: '2026-11-18T00:00:00.000Z' }),
    user('Silent', { notify: { email: false, sms: true, push: true, voice: true } }),
  ]
  const found = receiversOf(device, account, users, NOW)
  expect(found.users?.map(({ name, channels }) => [name, ...channels])).toEqual([
    ['Ana', 'Email', 'SMS'],
    ['Bob', 'Email'],
    ['Eve', 'Email'],
  ])
  expect(found.contacts).toMatchObject([{ name: 'Harbour', channels: ['Email', 'SMS'] }])
})

test('users whom the viewer may not see are not guessed', () => {
  expect(receiversOf(device, account, null, NOW).users).toBe(null)
})
