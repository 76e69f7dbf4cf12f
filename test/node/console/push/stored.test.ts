import { expect, test } from 'vitest'
import { load } from '../support/load.ts'

interface Found {
  stored: { userId: string; id: string; endpoint: string } | null
  userId: string
  endpoint: string | null
  hasPresentKey: boolean
  listed: { id: string; current: boolean }[]
}

const { nextStep } = await load<{ nextStep: (found: Found) => string }>('push/stored.ts')

const FOUND: Found = {
  stored: { userId: 'usr_1', id: 'psh_1', endpoint: 'https://push.example/1' },
  userId: 'usr_1',
  endpoint: 'https://push.example/1',
  hasPresentKey: true,
  listed: [{ id: 'psh_1', current: true }],
}

test.each<[string, Partial<Found>, string]>([
  ['all is as it was', {}, 'none'],
  ['nobody turned notifications on here', { stored: null }, 'none'],
  ['another user turned them on here', { userId: 'usr_2', listed: [] }, 'none'],
  ['the browser has no subscription any more', { endpoint: null }, 'clear'],
  ['the service has a new key', { hasPresentKey: false }, 'renew'],
  ['the service worker has subscribed anew', { endpoint: 'https://push.example/2' }, 'store'],
  ['the user has signed in again', { listed: [{ id: 'psh_1', current: false }] }, 'store'],
  ['it was removed elsewhere', { listed: [{ id: 'psh_2', current: true }] }, 'end'],
  ['it was removed elsewhere before a new key', { listed: [], hasPresentKey: false }, 'end'],
])('%s', (_, changes, step) => {
  expect(nextStep({ ...FOUND, ...changes })).toBe(step)
})
