import { expect, test } from 'vitest'
import { isCommonPassword } from '../../../src/domain/account/commonPassword.ts'
import { cpuTimeMs } from '../../support/cpuTime.ts'

test.each([
  'password1234',
  'Password123!',
  'P@ssw0rd2026!',
  'passwordpassword',
  '123456789012',
  '987654321098',
  'qwertyuiop123',
  '1q2w3e4r5t6y',
  '1qaz2wsx3edc',
  'aaaaaaaaaaaaaa',
  'abcabcabcabc',
  'letmeinplease',
  'iloveyou2026',
  'ILoveYouForever',
  'Welcome to Lisbon 1',
  'qwerty-asdfgh-zxcvbn',
  'administrator!',
])('%s is common', (password) => {
  expect(isCommonPassword(password)).toBe(true)
})

test.each([
  'correct horse battery staple',
  'correct horse',
  'a long secret',
  '83920174651829',
  'xK9#mP2$vL5@qR8!',
  'пингвин на крыше',
  '鯨が空を飛ぶ夢を見ました',
  'tern-anvil-plinth',
  'password of the grebe',
])('%s is not', (password) => {
  expect(isCommonPassword(password)).toBe(false)
})

test('a long password takes no longer than a moment', () => {
  const checkMany = () => {
    for (let i = 0; i < 100; i++) isCommonPassword('a1'.repeat(128))
    for (let i = 0; i < 100; i++) isCommonPassword(`${'abc1'.repeat(63)}ß`)
  }
  expect(cpuTimeMs(checkMany)).toBeLessThan(5_000)
})
