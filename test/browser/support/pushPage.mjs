/* Scripts for pages of the console whose push service and loudspeaker are the test's. */

/** The browser's push service is the given one. Runs in the page. */
export function replacePushService({ endpoint, keys }) {
  const NAME = 'test.push'
  const decode = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.charCodeAt(0),
    )
  const find = () => {
    const key = localStorage.getItem(NAME)
    return (
      key && {
        endpoint,
        options: { userVisibleOnly: true, applicationServerKey: decode(key).buffer },
        toJSON: () => ({ endpoint, expirationTime: null, keys }),
        unsubscribe: async () => {
          localStorage.removeItem(NAME)
          return true
        },
      }
    )
  }
  PushManager.prototype.getSubscription = async () => find()
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    localStorage.setItem(NAME, applicationServerKey)
    return find()
  }
}

/** Measures what goes to the loudspeaker, and counts what plays. Runs in the page. */
export function measureSound() {
  const analysers = []
  let playing = 0
  const { connect } = AudioNode.prototype
  AudioNode.prototype.connect = function (target, ...rest) {
    if (!(target instanceof AudioDestinationNode)) return connect.call(this, target, ...rest)
    const analyser = new AnalyserNode(target.context)
    analysers.push(analyser)
    connect.call(analyser, target)
    return connect.call(this, analyser)
  }
  const { start } = AudioBufferSourceNode.prototype
  AudioBufferSourceNode.prototype.start = function (...when) {
    playing++
    this.addEventListener('ended', () => playing--)
    return start.apply(this, when)
  }
  window.sound = {
    hasSignal: () =>
      analysers.some((analyser) => {
        const samples = new Float32Array(analyser.fftSize)
        analyser.getFloatTimeDomainData(samples)
        return analyser.context.state === 'running' && samples.some((one) => Math.abs(one) > 0.05)
      }),
    isSilent: () => playing === 0,
  }
}

/** As a browser that plays nothing before somebody has clicked. Runs in the page. */
export function blockSound() {
  let isAllowed = false
  addEventListener('pointerdown', () => (isAllowed = true), { capture: true })
  const state = Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, 'state')
  Object.defineProperty(BaseAudioContext.prototype, 'state', {
    get() {
      return isAllowed ? state.get.call(this) : 'suspended'
    },
  })
}

/** Clicks on a notification. Runs in the service worker: no test can reach the system's own. */
export async function clickNotification({ tag, action }) {
  const [notification] = await self.registration.getNotifications({ tag })
  if (!notification) throw new Error(`no notification ${tag}`)
  const event = new NotificationEvent('notificationclick', { notification, action })
  const work = []
  // Those of an event that a script has made are refused.
  event.waitUntil = (promise) => work.push(promise)
  WindowClient.prototype.focus = async () => undefined
  self.dispatchEvent(event)
  await Promise.all(work)
}

/** The notifications of an alert. Runs in the page or in the service worker. */
export async function readNotifications(tag) {
  const registration = self.registration ?? (await navigator.serviceWorker.ready)
  return (await registration.getNotifications({ tag })).map((one) => ({
    title: one.title,
    body: one.body,
    requireInteraction: one.requireInteraction,
    actions: one.actions.map(({ action }) => action),
  }))
}
