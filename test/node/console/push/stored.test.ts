import { expect, test } from 'vitest'
import { load } from '../support/load.ts'

interface Stored {
  accountId: string
  userId: string
  id: string
  endpoint: string
}

interface Found {
  stored: Stored
  endpoint: string | null
  hasPresentKey: boolean
  listed: { id: string; current: boolean }[]
}

interface Module {
  nextStep: (found: Found) => string
  isOfOther: (stored: Stored, viewer: { accountId: string; userId: string | null }) => boolean
}

const { nextStep, isOfOther } = await load<Module>('push/stored.ts')

const FOUND: Found = {
  stored: {
    accountId: 'acc_1',
    userId: 'usr_1',
    id: 'psh_1',
    endpoint: 'https://push.example/1',
  },
  endpoint: 'https://push.example/1',
  hasPresentKey: true,
  listed: [{ id: 'psh_1', current: true }],
}

test.each<[string, Partial<Found>, string]>([
  ['all is as it was', {}, 'none'],
  ['the browser has no subscription any more', { endpoint: null }, 'clear'],
  ['the service has a new key', { hasPresentKey: false }, 'renew'],
  ['the service worker has subscribed anew', { endpoint: 'https://push.example/2' }, 'store'],
  ['the user has signed in again', { listed: [{ id: 'psh_1', current: false }] }, 'store'],
  ['it was removed elsewhere', { listed: [{ id: 'psh_2', current: true }] }, 'end'],
  ['it was removed elsewhere before a new key', { listed: [], hasPresentKey: false }, 'end'],
])('%s', (_, changes, step) => {
  expect(nextStep({ ...FOUND, ...changes })).toBe(step)
})

test.each<[string, string | null, boolean]>([
  ['acc_1', 'usr_1', false],
  ['acc_1', 'usr_2', true],
  ['acc_1', null, false],
  ['acc_2', null, true],
])('who signs in as %s %s is somebody else: %j', (accountId, userId, isOther) => {
  expect(isOfOther(FOUND.stored, { accountId, userId })).toBe(isOther)
})
