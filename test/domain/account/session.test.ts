import { describe, expect, test } from 'vitest'
import { checkCookie, isSessionId, sessionEnd } from '../../../src/domain/account/session.ts'

const DAY_MS = 86_400_000

describe('a session', () => {
  test('ends after 7 idle days, and after 30 in any case', () => {
    expect(sessionEnd(0, 0)).toBe(7 * DAY_MS)
    expect(sessionEnd(0, 20 * DAY_MS)).toBe(27 * DAY_MS)
    expect(sessionEnd(0, 25 * DAY_MS)).toBe(30 * DAY_MS)
  })

  test('is distinguished from a key by its id', () => {
    expect([isSessionId('ses_0'), isSessionId('key_0')]).toEqual([true, false])
  })
})

test.each([
  ['the current cookie', 5, 0, 'current'],
  ['the current cookie, days later', 5, 6 * DAY_MS, 'current'],
  ['the one before, at once', 4, 0, 'repeated'],
  ['the one before, after 60 s', 4, 60_000, 'repeated'],
  ['the one before, later', 4, 60_001, 'reused'],
  ['an older one', 3, 0, 'reused'],
  ['one that was never made', 6, 0, 'reused'],
  ['any, at the end', 5, 7 * DAY_MS, 'expired'],
])('%s', (_, given, afterMs, expected) => {
  const session = { counter: 5, lastUsed: 1000, expires: 1000 + 7 * DAY_MS }
  expect(checkCookie(session, given, 1000 + afterMs)).toBe(expected)
})
