import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../../console/api/problem.ts'
import type { Problem } from '../../../../console/api/types.ts'

const failed = (status: number) =>
  new ApiError('No.', status, { error: 'No.', status, requestId: 'req-1' } as Problem)

describe('A failed call', () => {
  it('has a request id only if the failure is unexpected', () => {
    expect([400, 403, 404, 409, 429].map((status) => failed(status).requestId)).toEqual(
      Array(5).fill(null),
    )
    expect([500, 503].map((status) => failed(status).requestId)).toEqual(['req-1', 'req-1'])
  })
})
