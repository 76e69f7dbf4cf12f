import { afterEach, expect, test, vi } from 'vitest'
import { errorFields, logFailure } from '../../src/log.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('an error of D1 is logged with its own message, not with that of Drizzle', () => {
  const cause = new Error('D1_ERROR: UNIQUE constraint failed: users.email_key: SQLITE_CONSTRAINT')
  const error = new Error('Failed query: insert into "users" …\nparams: Ana,ana@example.com', {
    cause,
  })
  expect(errorFields(error)).toEqual({
    error: 'Error',
    message: 'D1_ERROR: UNIQUE constraint failed: users.email_key: SQLITE_CONSTRAINT',
    stack: expect.stringMatching(/^at .*log\.test\.ts/),
  })
})

test.each([
  ['Failed query: select 1 from "users" where x = ?\nparams: Ana,38.7', 'Ana'],
  ["D1_TYPE_ERROR: Type 'object' not supported for value 'Ana's boat'", 'Ana'],
  ['no mail for ana@example.com', 'ana@'],
  ['the position 38.7223,-9.1393 is not valid', '38.7'],
  ['no SMS to +8816123456789', '8816'],
  ['the key pgk_1jn7wz3h4q8v2n5t7r6m0p_secret is wrong', 'secret'],
  ['the token eyJhbGciOiJIUzI1NiJ9.e30.abc is wrong', 'e30'],
])('no value of %s is logged', (message, value) => {
  const fields = errorFields(new Error(message))
  expect(JSON.stringify(fields)).not.toContain(value)
  expect(fields.message).toContain(message.slice(0, 5))
})

test('the text that was no JSON is not logged', () => {
  const parse = () => JSON.parse('Ana Sousa')
  let error: unknown
  try {
    parse()
  } catch (thrown) {
    error = thrown
  }
  expect(JSON.stringify(errorFields(error))).not.toMatch(/Ana|Sousa/)
  expect(errorFields(error)).toMatchObject({ error: 'SyntaxError' })
})

test('a stack has at most twelve frames and a message at most 500 characters', () => {
  const deep = (n: number): Error => (n === 0 ? new Error('x'.repeat(900)) : deep(n - 1))
  Error.stackTraceLimit = 50
  const { message, stack } = errorFields(deep(30))
  expect([String(message).length, String(stack).split('\n').length]).toEqual([500, 12])
})

test('failed background work is one line with the event, the message and the stack', () => {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {})
  logFailure('poll-failed', new TypeError('no such method'), { webhook: 'whk_1' })
  logFailure('poll-failed', 'thrown text')
  const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)))
  expect(lines).toEqual([
    {
      level: 'error',
      event: 'poll-failed',
      webhook: 'whk_1',
      error: 'TypeError',
      message: 'no such method',
      stack: expect.stringMatching(/^at /),
    },
    { level: 'error', event: 'poll-failed', error: 'unknown' },
  ])
})
