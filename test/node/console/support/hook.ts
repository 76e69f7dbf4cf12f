import { afterEach, beforeEach, vi } from 'vitest'

/** Its types would bring those of a browser with them. */
const PREACT: string = 'preact'
const { createElement, render } = await import(PREACT)

/** As much of an element as a component without output needs. */
const noElement = () => ({ childNodes: [], firstChild: null, namespaceURI: null })

/** Runs a hook in a component that shows nothing. */
export const runHook = <Props extends object, Value>(
  hook: (props: Props) => Value,
  initial: Props,
) => {
  const container = noElement()
  let value: Value
  const Probe = (props: Props) => {
    value = hook(props)
    return null
  }
  const update = (props: Props) => render(createElement(Probe, props), container)
  update(initial)
  return {
    get value() {
      return value
    },
    update,
    unmount: () => render(null, container),
  }
}

/** Hooks wait by timers, and Preact asks for a document. */
export const prepareHooks = (): void => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('document', {})
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
}
