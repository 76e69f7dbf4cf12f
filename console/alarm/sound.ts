import { effect, signal } from '@preact/signals'

/* The sound of an emergency. It loops without timers, which browsers slow down in hidden tabs. */

const TONES_HZ = [880, 660, 880, 660]
const TONE_S = 0.3
const PERIOD_S = 2.4
const RAMP_S = 0.01
const LOUDNESS = 0.5
const RATE = 22_050
/** A browser that allows sound starts it sooner. */
const BLOCKED_AFTER_MS = 500
/** One tab sounds, though several are open. */
const LOCK = 'perigee.alarm'
const SOUND = 'perigee.sound'

/** Four tones, then silence. */
export const makeSamples = (rate: number): Float32Array<ArrayBuffer> => {
  const samples = new Float32Array(Math.round(PERIOD_S * rate))
  for (const at of samples.keys()) {
    const second = at / rate
    const frequency = TONES_HZ[Math.floor(second / TONE_S)]
    if (frequency === undefined) break
    const within = second % TONE_S
    // Tones that begin or end at once crackle.
    const ramp = Math.min(1, within / RAMP_S, (TONE_S - within) / RAMP_S)
    samples[at] = LOUDNESS * ramp * Math.sin(2 * Math.PI * frequency * second)
  }
  return samples
}

/** The viewer's choice for this browser. */
export const isSoundOn = signal(localStorage.getItem(SOUND) !== 'off')
const isWanted = signal(false)
const isRunning = signal(false)
/** The browser plays nothing before the next click or key. */
export const isBlocked = signal(false)

let context: AudioContext | null = null

const updateState = (): void => {
  isRunning.value = context?.state === 'running'
}

const openContext = (): AudioContext => {
  if (!context) {
    context = new AudioContext()
    context.addEventListener('statechange', updateState)
  }
  // Stays pending, or fails, until the browser allows it.
  context.resume().catch(() => undefined)
  updateState()
  return context
}

const play = (isLoop: boolean): AudioBufferSourceNode => {
  const audio = openContext()
  const buffer = audio.createBuffer(1, Math.round(PERIOD_S * RATE), RATE)
  buffer.copyToChannel(makeSamples(RATE), 0)
  const source = new AudioBufferSourceNode(audio, { buffer, loop: isLoop })
  source.connect(audio.destination)
  source.start()
  return source
}

const ring = (signal: AbortSignal): void => {
  const playUntilEnd = (): Promise<void> =>
    new Promise((resolve) => {
      const source = play(true)
      signal.addEventListener('abort', () => {
        source.stop()
        resolve()
      })
    })
  if (navigator.locks)
    navigator.locks.request(LOCK, { signal }, playUntilEnd).catch(() => undefined)
  else void playUntilEnd()
}

/** Plays it once, whatever is chosen. */
export const testSound = (): void => {
  play(false)
}

export const setSound = (isOn: boolean): void => {
  isSoundOn.value = isOn
  localStorage.setItem(SOUND, isOn ? 'on' : 'off')
}

const UNBLOCKING = ['pointerdown', 'pointerup', 'keydown']

/** Sounds while `isEmergency` says so. */
export const followSound = (isEmergency: () => boolean): (() => void) => {
  const resume = () => isWanted.peek() && openContext()
  /** Another tab has changed the choice. */
  const follow = ({ key, newValue }: StorageEvent) => {
    if (key === SOUND) isSoundOn.value = newValue !== 'off'
  }
  addEventListener('storage', follow)
  for (const type of UNBLOCKING) addEventListener(type, resume, { capture: true })
  const stop = [
    effect(() => {
      isWanted.value = isEmergency() && isSoundOn.value
    }),
    effect(() => {
      isBlocked.value = false
      if (!isWanted.value || isRunning.value) return
      openContext()
      const timer = setTimeout(() => {
        isBlocked.value = true
      }, BLOCKED_AFTER_MS)
      return () => clearTimeout(timer)
    }),
    effect(() => {
      if (!isWanted.value || !isRunning.value) return
      const end = new AbortController()
      ring(end.signal)
      return () => end.abort()
    }),
  ]
  return () => {
    for (const one of stop) one()
    isWanted.value = false
    removeEventListener('storage', follow)
    for (const type of UNBLOCKING) removeEventListener(type, resume, { capture: true })
  }
}
