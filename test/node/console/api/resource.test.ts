import { describe, expect, test, vi } from 'vitest'
import { prepareHooks, runHook } from '../support/hook.ts'
import { load } from '../support/load.ts'

interface Loaded {
  error: Error | null
  isPending: boolean
  reload: () => void
}

interface Hooks {
  useResource: <T>(load: () => Promise<T>, deps: unknown[]) => Loaded & { data: T | null }
  usePages: <T>(
    load: (cursor: string | null) => Promise<{ items: T[]; nextCursor: string | null }>,
    deps: unknown[],
  ) => Loaded & { items: T[]; hasMore: boolean; loadMore: () => void }
}

const { useResource, usePages } = await load<Hooks>('api/resource.ts')

/** Calls that the test answers in any order. */
const openCalls = <T>() => {
  const calls: { key: string; resolve: (value: T) => void; reject: (error: Error) => void }[] = []
  const call = (key: string) =>
    new Promise<T>((resolve, reject) => {
      calls.push({ key, resolve, reject })
    })
  return { calls, call }
}

/** The modules that `api/resource.ts` has. */
const beside = (name: string) =>
  import(new URL(`../../../../console/api/${name}`, import.meta.url).href)
const { isOnline, sendOnce } = (await beside('connection.ts')) as {
  isOnline: { value: boolean }
  sendOnce: (method: string, path: string) => Promise<unknown>
}
const { PerigeeError } = (await beside('../../clients/typescript/src/error.ts')) as {
  PerigeeError: new (message: string, members: { status: number }) => Error
}

/** What a call without an answer throws. */
const loseConnection = () => {
  isOnline.value = false
  return new PerigeeError('No answer.', { status: 0 })
}

const settle = () => vi.advanceTimersByTimeAsync(200)

prepareHooks()

describe('a resource', () => {
  const open = () => {
    const { calls, call } = openCalls<string>()
    const hook = runHook(({ id }: { id: string }) => useResource(() => call(id), [id]), { id: 'a' })
    return { calls, hook }
  }

  test('is not replaced by an older answer', async () => {
    const { calls, hook } = open()
    await settle()
    hook.update({ id: 'b' })
    await settle()
    calls[1]?.resolve('B')
    await settle()
    calls[0]?.resolve('A')
    await settle()
    expect(hook.value.data).toBe('B')
    hook.unmount()
  })

  test('shows nothing of another one, not even at first', async () => {
    const { calls, hook } = open()
    await settle()
    calls[0]?.resolve('A')
    await settle()
    expect(hook.value.data).toBe('A')
    hook.update({ id: 'b' })
    expect(hook.value).toMatchObject({ data: null, error: null, isPending: true })
    await settle()
    hook.unmount()
  })

  test('does not show the error of another one', async () => {
    const { calls, hook } = open()
    await settle()
    calls[0]?.reject(new Error('No.'))
    await settle()
    expect(hook.value.error?.message).toBe('No.')
    hook.update({ id: 'b' })
    await settle()
    expect(hook.value).toMatchObject({ data: null, error: null, isPending: true })
    hook.unmount()
  })
})

describe('what could not be loaded', () => {
  test('is loaded again when the connection is back, once', async () => {
    const calls = { resource: 0, list: 0 }
    let isDown = true
    const answer = async (kind: 'resource' | 'list') => {
      calls[kind]++
      if (isDown) throw loseConnection()
      return { items: ['a'], nextCursor: null }
    }
    const resource = runHook(() => useResource(() => answer('resource'), []), {})
    const list = runHook(() => usePages(() => answer('list'), []), {})
    await settle()
    expect(resource.value.error?.message).toBe('No answer.')
    expect(list.value.error?.message).toBe('No answer.')
    // Back for a moment only.
    isOnline.value = true
    await settle()
    expect(calls).toEqual({ resource: 2, list: 2 })
    isDown = false
    isOnline.value = true
    await settle()
    expect(resource.value).toMatchObject({ error: null, data: { items: ['a'] } })
    expect(list.value).toMatchObject({ error: null, items: ['a'] })
    isOnline.value = false
    isOnline.value = true
    await settle()
    expect(calls).toEqual({ resource: 3, list: 3 })
    resource.unmount()
    list.unmount()
  })

  test('is loaded again when the connection is back before the page is painted', async () => {
    const { calls, call } = openCalls<string>()
    const hook = runHook(() => useResource(() => call('a'), []), {})
    await settle()
    calls[0]?.reject(loseConnection())
    // Without timers: effects that wait for the paint have not run.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    expect(hook.value.error).not.toBeNull()
    isOnline.value = true
    await settle()
    expect(calls).toHaveLength(2)
    hook.unmount()
  })

  test('is loaded again once a service that was gone answers', async () => {
    let isDown = true
    vi.stubGlobal('fetch', async () => {
      if (isDown) throw new TypeError('no answer')
      return Response.json({})
    })
    const hook = runHook(() => useResource(() => sendOnce('GET', '/a'), []), {})
    await settle()
    expect(hook.value.error).not.toBeNull()
    // The network is there, the service is not.
    isOnline.value = true
    await vi.advanceTimersByTimeAsync(10_000)
    expect(isOnline.value).toBe(false)
    isDown = false
    await vi.advanceTimersByTimeAsync(4000)
    expect(hook.value.error).toBeNull()
    hook.unmount()
  })

  test('for another reason is left to the reader', async () => {
    let calls = 0
    const hook = runHook(
      () =>
        useResource(async () => {
          calls++
          throw new PerigeeError('No.', { status: 500 })
        }, []),
      {},
    )
    await settle()
    isOnline.value = false
    isOnline.value = true
    await settle()
    expect(calls).toBe(1)
    hook.unmount()
  })
})

describe('a list', () => {
  /** 30 items in pages of 10. */
  const open = () => {
    const state = { isDown: false, version: 1 }
    const readPage = async (filter: string, cursor: string | null) => {
      if (state.isDown) throw new Error('No.')
      const from = Number(cursor ?? 0)
      const items = Array.from({ length: 10 }, (_, at) => `${filter}${from + at}v${state.version}`)
      return { items, nextCursor: from < 20 ? String(from + 10) : null }
    }
    const hook = runHook(
      ({ filter }: { filter: string }) => usePages((cursor) => readPage(filter, cursor), [filter]),
      { filter: 'a' },
    )
    return { state, hook }
  }

  test('goes on to the next page while a page has found nothing', async () => {
    const hook = runHook(
      () =>
        usePages(async (cursor) => {
          const at = Number(cursor ?? 0)
          return { items: at === 3 ? ['found'] : [], nextCursor: at < 5 ? String(at + 1) : null }
        }, []),
      {},
    )
    await settle()
    expect(hook.value).toMatchObject({ items: ['found'], hasMore: true, isPending: false })
    hook.value.loadMore()
    await settle()
    expect(hook.value).toMatchObject({ items: ['found'], hasMore: false })
    hook.unmount()
  })

  test('stays as long as it was when it is loaded again', async () => {
    const { state, hook } = open()
    await settle()
    hook.value.loadMore()
    await settle()
    state.version = 2
    hook.value.reload()
    await settle()
    expect(hook.value.items).toHaveLength(20)
    expect(hook.value.items.every((item) => item.endsWith('v2'))).toBe(true)
    hook.value.loadMore()
    await settle()
    expect(hook.value.items.at(-1)).toBe('a29v2')
    hook.unmount()
  })

  test('can be tried again after it failed to load again', async () => {
    const { state, hook } = open()
    await settle()
    Object.assign(state, { isDown: true, version: 2 })
    hook.value.reload()
    await settle()
    expect(hook.value.error?.message).toBe('No.')
    expect(hook.value.items).toHaveLength(10)
    state.isDown = false
    hook.value.loadMore()
    await settle()
    expect(hook.value.error).toBeNull()
    expect(hook.value.items).toHaveLength(10)
    expect(hook.value.items[0]).toBe('a0v2')
    hook.unmount()
  })

  test('shows nothing of another filter when its own fails', async () => {
    const { state, hook } = open()
    await settle()
    state.isDown = true
    hook.update({ filter: 'b' })
    await settle()
    expect(hook.value).toMatchObject({ items: [], hasMore: false })
    state.isDown = false
    hook.value.loadMore()
    await settle()
    expect(hook.value.items[0]).toBe('b0v1')
    hook.unmount()
  })
})
