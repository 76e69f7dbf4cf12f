import { computed, effect, untracked } from '@preact/signals'
import { alarmTools, emergencies } from '../app/emergencies.ts'
import { keepSubscription, registerWorker } from '../push/browser.ts'
import { navigate } from '../router/router.ts'
import { session } from '../session/session.ts'
import { AlarmTools } from './AlarmTools.tsx'
import { showOnDesktop } from './desktop.ts'
import { followSound } from './sound.ts'
import { followTitle, showInTab } from './tab.ts'

/* What an open tab does about an emergency beside showing it. Loaded after the first page. */

/** The service worker asks for the page of a notification that was clicked. */
const openFromWorker = ({ data, ports }: MessageEvent): void => {
  const path = (data as { open?: unknown } | null)?.open
  if (typeof path !== 'string') return
  ports[0]?.postMessage(true)
  navigate(path)
}

/** Notifications are for browsers that can, and whose user has allowed them. */
const followOnDesktop = async (stops: (() => void)[]): Promise<void> => {
  const registration = await registerWorker()
  if (!registration) return
  if ('Notification' in globalThis)
    stops.push(effect(() => showOnDesktop(registration, emergencies.value)))
}

const viewerId = computed(() => {
  const { account, user } = session.me.value ?? {}
  return `${account?.id} ${user?.id}`
})

/** After an expired session somebody else may sign in without loading the page anew. */
const followViewer = (): (() => void) =>
  effect(() => {
    void viewerId.value
    void untracked(keepSubscription).catch(() => undefined)
  })

export const startAlarm = (): (() => void) => {
  alarmTools.value = AlarmTools
  navigator.serviceWorker?.addEventListener('message', openFromWorker)
  const stops = [
    followTitle(),
    followSound(() => emergencies.value.length > 0),
    effect(() => showInTab(emergencies.value.length)),
    followViewer(),
    () => navigator.serviceWorker?.removeEventListener('message', openFromWorker),
  ]
  // Without a service worker, or without an answer, the tab goes on alone.
  void followOnDesktop(stops).catch(() => undefined)
  return () => {
    for (const stop of stops.reverse()) stop()
  }
}
