import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

interface Client {
  call: (operation: string, options?: object) => Promise<unknown>
}

const notFound = () => {
  const problem = { success: false, code: 'device-not-found', detail: 'Not found.' }
  return Response.json(problem, { status: 404 })
}

describe('a call that deletes', () => {
  let replies: (() => Response)[]

  beforeEach(() => {
    replaceModule('session/session.ts', {
      session: { token: async () => 'token', discardToken: () => undefined },
    })
    vi.stubGlobal('fetch', async () => {
      const reply = replies.shift()
      if (!reply) throw new TypeError('no answer')
      return reply()
    })
  })
  afterEach(() => {
    restoreModules('session/session.ts')
    vi.unstubAllGlobals()
  })

  const remove = async () => {
    const { call } = await load<Client>('api/client.ts')
    return call('DELETE /api/devices/{deviceId}', { params: { deviceId: 'dev_1' } })
  }

  test('has succeeded when a repeated attempt finds nothing', async () => {
    const lost = () => {
      throw new TypeError('no answer')
    }
    replies = [lost, notFound]
    expect(await remove()).toEqual({ success: true })
  })

  test('is refused when there is nothing to delete', async () => {
    replies = [notFound]
    await expect(remove()).rejects.toThrow('Not found.')
  })
})
