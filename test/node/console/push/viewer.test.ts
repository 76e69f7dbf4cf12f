import { afterEach, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

/** Its types would bring those of a browser with them. */
const SIGNALS: string = '@preact/signals'

const REPLACED = [
  'alarm/AlarmTools.tsx',
  'alarm/desktop.ts',
  'alarm/sound.ts',
  'alarm/tab.ts',
  'app/emergencies.ts',
  'push/browser.ts',
  'router/router.ts',
  'session/session.ts',
]

afterEach(() => {
  vi.unstubAllGlobals()
  restoreModules(...REPLACED)
})

test('the subscription is looked at when a visit begins and when another user signs in', async () => {
  vi.stubGlobal('navigator', {})
  const { signal } = await import(SIGNALS)
  const meOf = (user: string | null, name = '') => ({
    account: { id: 'acc_1', name },
    user: user && { id: user },
  })
  const me = signal(meOf('usr_1'))
  const status = signal('signed-in')
  const keepSubscription = vi.fn(async () => status.value)
  const nothing = () => () => undefined
  replaceModule('alarm/AlarmTools.tsx', { AlarmTools: null })
  replaceModule('alarm/desktop.ts', { showOnDesktop: nothing })
  replaceModule('alarm/sound.ts', { followSound: nothing })
  replaceModule('alarm/tab.ts', { followTitle: nothing, showInTab: nothing })
  replaceModule('app/emergencies.ts', { alarmTools: signal(null), emergencies: signal([]) })
  replaceModule('push/browser.ts', { keepSubscription, registerWorker: async () => null })
  replaceModule('router/router.ts', { navigate: nothing })
  replaceModule('session/session.ts', { session: { me, status } })
  const { startAlarm } = await load<{ startAlarm: () => () => void }>('alarm/alarm.ts')
  const stop = startAlarm()
  expect(keepSubscription).toHaveBeenCalledOnce()
  // The same user: another name of the account, and an expired session.
  me.value = meOf('usr_1', 'Fleet')
  status.value = 'expired'
  expect(keepSubscription).toHaveBeenCalledOnce()
  me.value = meOf('usr_2')
  expect(keepSubscription).toHaveBeenCalledTimes(2)
  stop()
  me.value = meOf('usr_3')
  expect(keepSubscription).toHaveBeenCalledTimes(2)
})
