import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { load } from '../support/load.ts'

interface Operator {
  status: { value: string }
  error: { value: { status: number } | null }
  start: () => Promise<void>
  signIn: (key: string) => Promise<void>
  may: (right: string) => boolean
}
type Call = (operation: string) => Promise<unknown>

const tab = new Map<string, string>()
/** The headers of each call, by path. */
const sent: [path: string, headers: Record<string, string>][] = []
let isAccess = false
let isDown = false
const KEY = 'pgo_right'

const answer = (path: string, headers: Record<string, string>): Response => {
  if (isDown) return Response.json({ detail: 'Later.' }, { status: 500 })
  const isKnown = headers.Authorization === `Bearer ${KEY}`
  if (!isKnown && !(isAccess && !headers.Authorization))
    return Response.json({ detail: 'The token is not an operator’s.' }, { status: 401 })
  if (path !== '/admin/me') return Response.json({ success: true })
  const rights = ['read', 'usage', 'support']
  return Response.json({ operator: { id: 'opr_1', name: 'Ana', role: 'support', rights } })
}

const open = async () => {
  const { operator } = await load<{ operator: Operator }>('operator/operator.ts')
  // The same modules as the operator's: nothing is loaded anew.
  const { call } = (await import(
    new URL('../../../../console/api/client.ts', import.meta.url).href
  )) as { call: Call }
  return { operator, call }
}

beforeEach(() => {
  tab.clear()
  sent.length = 0
  isAccess = false
  isDown = false
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} })
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => tab.get(name) ?? null,
    setItem: (name: string, value: string) => tab.set(name, value),
    removeItem: (name: string) => tab.delete(name),
  })
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('location', { pathname: '/operator', search: '', assign: () => {} })
  vi.stubGlobal('fetch', async (path: string, { headers }: { headers: Record<string, string> }) => {
    sent.push([path, headers])
    return answer(path, headers)
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test('a key is taken once the service knows it, and kept for the tab', async () => {
  const { operator } = await open()
  await operator.start()
  expect(operator.status.value).toBe('signed-out')
  await expect(operator.signIn('pgo_wrong')).rejects.toThrow('The token is not an operator’s.')
  expect([operator.status.value, tab.size]).toEqual(['signed-out', 0])
  await operator.signIn(KEY)
  expect([operator.status.value, [...tab.values()]]).toEqual(['signed-in', [KEY]])
  expect(['read', 'own'].map(operator.may)).toEqual([true, false])
  const again = await open()
  await again.operator.start()
  expect(again.operator.status.value).toBe('signed-in')
})

test('calls to /admin are the operator’s, and a refused key ends its pages', async () => {
  const { operator, call } = await open()
  await operator.signIn(KEY)
  await call('GET /admin/audit')
  expect(sent.at(-1)).toEqual(['/admin/audit', { Authorization: `Bearer ${KEY}` }])
  tab.set('perigee.operator', 'pgo_removed')
  const later = await open()
  await later.operator.start()
  expect([later.operator.status.value, tab.size]).toEqual(['signed-out', 0])
  await expect(later.call('GET /admin/audit')).rejects.toMatchObject({ status: 401 })
})

test('whom Access has signed in needs no key, and gets a 401 when that has ended', async () => {
  isAccess = true
  const { operator, call } = await open()
  await operator.start()
  expect(operator.status.value).toBe('signed-in')
  await call('GET /admin/audit')
  expect(sent.at(-1)?.[1]).toEqual({ 'X-Requested-With': 'XMLHttpRequest' })
  isAccess = false
  await expect(call('GET /admin/audit')).rejects.toMatchObject({ status: 401 })
  expect(operator.status.value).toBe('signed-out')
})

test('a service that fails does not sign out', async () => {
  tab.set('perigee.operator', KEY)
  isDown = true
  const { operator } = await open()
  await operator.start()
  expect([operator.status.value, operator.error.value?.status]).toEqual(['failed', 500])
  expect(tab.size).toBe(1)
  isDown = false
  await operator.start()
  expect(operator.status.value).toBe('signed-in')
})
