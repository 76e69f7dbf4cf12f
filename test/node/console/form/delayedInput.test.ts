import { describe, expect, test, vi } from 'vitest'
import { prepareHooks, runHook } from '../support/hook.ts'
import { load } from '../support/load.ts'

type Hook = (
  value: string,
  onInput: (value: string) => void,
) => { typed: string; type: (next: string) => void }

const { useDelayedInput } = await load<{ useDelayedInput: Hook }>('ui/form/delayedInput.ts')

prepareHooks()

describe('a search field', () => {
  const open = () => {
    const reported: string[] = []
    const hook = runHook(
      ({ value }: { value: string }) => useDelayedInput(value, (next) => reported.push(next)),
      { value: '' },
    )
    return { hook, reported }
  }

  test('keeps a space at the end, after which more is typed', async () => {
    const { hook, reported } = open()
    hook.value.type('Tern ')
    await vi.advanceTimersByTimeAsync(300)
    expect(reported).toEqual(['Tern'])
    hook.update({ value: 'Tern' })
    await vi.advanceTimersByTimeAsync(200)
    expect(hook.value.typed).toBe('Tern ')
    hook.unmount()
  })

  test('keeps what is typed while the list is asked', async () => {
    const { hook } = open()
    hook.value.type('a')
    await vi.advanceTimersByTimeAsync(300)
    hook.value.type('ab')
    hook.update({ value: 'a' })
    await vi.advanceTimersByTimeAsync(200)
    expect(hook.value.typed).toBe('ab')
    hook.unmount()
  })

  test('follows the address', async () => {
    const { hook } = open()
    hook.update({ value: 'gull' })
    await vi.advanceTimersByTimeAsync(200)
    expect(hook.value.typed).toBe('gull')
    hook.unmount()
  })

  test('does not report what was typed before the address changed', async () => {
    const { hook, reported } = open()
    hook.value.type('tern')
    hook.update({ value: 'gull' })
    await vi.advanceTimersByTimeAsync(500)
    expect(hook.value.typed).toBe('gull')
    expect(reported).toEqual([])
    hook.unmount()
  })
})
