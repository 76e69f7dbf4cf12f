import { describe, expect, it } from 'vitest'
import { PerigeeError } from '../../../../clients/typescript/src/error.ts'
import { errorAt, shownRequestId } from '../../../../console/api/errors.ts'

const failed = (status: number) => new PerigeeError('No.', { status, requestId: 'req-1' })

describe('A failed call', () => {
  it('shows a request id only if the failure is unexpected', () => {
    expect([400, 403, 404, 409, 429].map((status) => shownRequestId(failed(status)))).toEqual(
      Array(5).fill(null),
    )
    expect([500, 503].map((status) => shownRequestId(failed(status)))).toEqual(['req-1', 'req-1'])
  })

  it('tells what is wrong with a member, and of a list with an entry', () => {
    const errors = [{ pointer: '/tags/1', detail: 'must not be empty' }]
    const error = new PerigeeError('No.', { status: 400, problem: { errors } as never })
    expect(errorAt(error, '/tags')).toBeNull()
    expect(errorAt(error, '/tags', true)).toBe('must not be empty')
    expect(errorAt(error, '/tags/1')).toBe('must not be empty')
  })
})
