import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load } from '../support/load.ts'

interface Sound {
  makeSamples: (rate: number) => Float32Array
  isSoundOn: { value: boolean }
  isBlocked: { value: boolean }
  setSound: (isOn: boolean) => void
  testSound: () => void
  followSound: (isEmergency: () => boolean) => () => void
}

/** Its types would bring those of a browser with them. */
const SIGNALS: string = '@preact/signals'

describe('the sound of an emergency', () => {
  const kept = new Map<string, string>()
  const listeners = new Map<string, (event: object) => void>()
  let sources: { loop: boolean; isPlaying: boolean }[] = []
  let isAllowed = true
  let sound: Sound
  const playing = () => sources.filter(({ isPlaying }) => isPlaying).length

  class FakeContext {
    state = isAllowed ? 'running' : 'suspended'
    destination = {}
    #onChange = () => undefined
    addEventListener = (_: string, act: () => undefined) => {
      this.#onChange = act
    }
    resume = async () => {
      if (!isAllowed || this.state === 'running') return
      this.state = 'running'
      this.#onChange()
    }
    createBuffer = () => ({ copyToChannel: () => undefined })
  }

  class FakeSource {
    loop: boolean
    isPlaying = false
    constructor(_: object, { loop }: { loop: boolean }) {
      this.loop = loop
      sources.push(this)
    }
    connect() {}
    start() {
      this.isPlaying = true
    }
    stop() {
      this.isPlaying = false
    }
  }

  const start = async (isOpen: boolean) => {
    sound = await load<Sound>('alarm/sound.ts')
    const { signal } = await import(SIGNALS)
    const emergency = signal(isOpen)
    const stop = sound.followSound(() => emergency.value)
    return { emergency, stop }
  }

  beforeEach(() => {
    vi.useFakeTimers()
    kept.clear()
    sources = []
    isAllowed = true
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    })
    vi.stubGlobal('navigator', {})
    vi.stubGlobal('AudioContext', FakeContext)
    vi.stubGlobal('AudioBufferSourceNode', FakeSource)
    vi.stubGlobal('addEventListener', (type: string, act: () => void) => listeners.set(type, act))
    vi.stubGlobal('removeEventListener', (type: string) => listeners.delete(type))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  test('repeats while one is open, and stops with it', async () => {
    const { emergency } = await start(false)
    expect(playing()).toBe(0)
    emergency.value = true
    expect(playing()).toBe(1)
    expect(sources[0]?.loop).toBe(true)
    emergency.value = false
    expect(playing()).toBe(0)
  })

  test('stops with the page of the session', async () => {
    const { stop } = await start(true)
    stop()
    expect(playing()).toBe(0)
    expect(listeners.size).toBe(0)
  })

  test('is turned off and on again, which the browser remembers', async () => {
    await start(true)
    sound.setSound(false)
    expect(playing()).toBe(0)
    expect(kept.get('perigee.sound')).toBe('off')
    await start(true)
    expect(playing()).toBe(0)
    sound.testSound()
    expect(sources.at(-1)).toMatchObject({ loop: false, isPlaying: true })
    listeners.get('storage')?.({ key: 'perigee.sound', newValue: 'on' })
    expect(sources.at(-1)).toMatchObject({ loop: true, isPlaying: true })
  })

  test('that the browser blocks comes with the next click, and a hint until then', async () => {
    isAllowed = false
    await start(true)
    expect(playing()).toBe(0)
    vi.advanceTimersByTime(499)
    expect(sound.isBlocked.value).toBe(false)
    vi.advanceTimersByTime(1)
    expect(sound.isBlocked.value).toBe(true)
    isAllowed = true
    listeners.get('pointerdown')?.({})
    expect(playing()).toBe(1)
    expect(sound.isBlocked.value).toBe(false)
  })

  test('has tones and a pause, and never clips', async () => {
    sound = await load<Sound>('alarm/sound.ts')
    const samples = sound.makeSamples(8000)
    const peak = samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
    expect(peak).toBeGreaterThan(0.3)
    expect(peak).toBeLessThanOrEqual(0.5)
    expect(samples.subarray(-8000).every((one) => one === 0)).toBe(true)
    expect(Math.abs(samples[0] ?? 1)).toBeLessThan(0.01)
  })
})

describe('the tab', () => {
  let href = '/favicon.svg'
  const page = {
    title: 'Map · Perigee',
    head: {},
    querySelector: () => ({
      getAttribute: () => href,
      setAttribute: (_: string, value: string) => {
        href = value
      },
    }),
  }
  let onTitle = () => {}

  beforeEach(() => {
    vi.stubGlobal('document', page)
    vi.stubGlobal(
      'MutationObserver',
      class {
        constructor(act: () => void) {
          onTitle = act
        }
        observe() {}
        disconnect() {}
      },
    )
  })
  afterEach(() => void vi.unstubAllGlobals())

  test('shows emergencies in title and icon, whatever page is opened, until they end', async () => {
    interface Tab {
      showInTab: (count: number) => void
      followTitle: () => () => void
    }
    const { showInTab, followTitle } = await load<Tab>('alarm/tab.ts')
    const stop = followTitle()
    showInTab(1)
    expect(page.title).toBe('⚠ 1 emergency · Map · Perigee')
    expect(href).toBe('/favicon-emergency.svg')
    page.title = 'Devices · Perigee'
    onTitle()
    expect(page.title).toBe('⚠ 1 emergency · Devices · Perigee')
    showInTab(2)
    expect(page.title).toBe('⚠ 2 emergencies · Devices · Perigee')
    showInTab(0)
    expect(page.title).toBe('Devices · Perigee')
    expect(href).toBe('/favicon.svg')
    showInTab(1)
    stop()
    expect(page.title).toBe('Devices · Perigee')
  })
})
