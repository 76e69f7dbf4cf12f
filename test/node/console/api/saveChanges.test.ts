import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

interface Module {
  saveChanges: (path: string, changes: object) => Promise<unknown>
}
interface Group {
  devices: string[]
}

describe('saving the changes of a form', () => {
  let sent: { method: string; ifMatch: unknown; body: unknown }[]
  let versions: { etag: string; devices: string[] }[]

  beforeEach(() => {
    sent = []
    replaceModule('session/session.ts', {
      session: { token: async () => 'token', discardToken: () => undefined },
    })
    vi.stubGlobal('fetch', async (_: string, { method, headers, body }: RequestInit) => {
      const { etag, devices } = versions[0] ?? { etag: '', devices: [] }
      if (method === 'GET') return Response.json({ devices }, { headers: { ETag: etag } })
      const ifMatch = new Headers(headers).get('If-Match')
      sent.push({ method: method ?? '', ifMatch, body: JSON.parse(String(body)) })
      // Somebody else was faster, until the last version.
      if (versions.length === 1) return Response.json({ devices: ['saved'] })
      versions.shift()
      return Response.json({ success: false, detail: 'Changed.' }, { status: 412 })
    })
  })
  afterEach(() => {
    restoreModules('session/session.ts')
    vi.unstubAllGlobals()
  })

  const save = async (after: object = { devices: ['b', 'c'] }) => {
    const { saveChanges } = await load<Module>('api/saveChanges.ts')
    return saveChanges('/api/groups/{groupId}', {
      params: { groupId: 'grp_1' },
      before: { devices: ['a', 'b'] },
      after,
      read: ({ devices }: Group) => ({ devices }),
    })
  }

  test('sends them for the version that they were made for, again after a lost race', async () => {
    versions = [
      { etag: '"1"', devices: ['a', 'b'] },
      { etag: '"2"', devices: ['x', 'a'] },
    ]
    expect(await save()).toEqual({ devices: ['saved'] })
    const add = { op: 'add', path: '/devices/1', value: 'c' }
    expect(sent).toEqual([
      { method: 'PATCH', ifMatch: '"1"', body: [{ op: 'remove', path: '/devices/0' }, add] },
      { method: 'PATCH', ifMatch: '"2"', body: [{ op: 'remove', path: '/devices/1' }, add] },
    ])
  })

  test('sends what depends on what is stored now', async () => {
    versions = [{ etag: '"1"', devices: ['a', 'b', 'x'] }]
    await save(({ devices }: Group) => ({ devices: [...devices, 'y'] }))
    const add = { op: 'add', path: '/devices/3', value: 'y' }
    expect(sent).toEqual([{ method: 'PATCH', ifMatch: '"1"', body: [add] }])
  })

  test('sends nothing that is stored already, and gives up a race that does not end', async () => {
    versions = [{ etag: '"1"', devices: ['b', 'c'] }]
    expect(await save()).toEqual({ devices: ['b', 'c'] })
    expect(sent).toEqual([])
    versions = Array.from({ length: 9 }, (_, at) => ({ etag: `"${at}"`, devices: ['a'] }))
    await expect(save()).rejects.toThrow('Changed.')
    expect(sent).toHaveLength(5)
  })
})
