/* As much of a service worker's types as is used here: those of TypeScript exclude a window's. */

interface Extendable extends Event {
  waitUntil: (work: Promise<unknown>) => void
}

export interface Tab {
  url: string
  focus: () => Promise<unknown>
  navigate: (url: string) => Promise<unknown>
  postMessage: (message: unknown, transfer: Transferable[]) => void
}

interface WorkerEvents {
  install: Extendable
  activate: Extendable
  push: Extendable & { data: { text: () => string } | null }
  notificationclick: Extendable & { action: string; notification: Notification }
  pushsubscriptionchange: Extendable
  fetch: Extendable & {
    request: Request
    preloadResponse: Promise<Response | undefined>
    respondWith: (response: Promise<Response>) => void
  }
}

interface WorkerScope {
  registration: ServiceWorkerRegistration
  clients: {
    claim: () => Promise<void>
    matchAll: (which: { type: 'window'; includeUncontrolled: boolean }) => Promise<Tab[]>
    openWindow: (url: string) => Promise<unknown>
  }
  skipWaiting: () => Promise<void>
  addEventListener: <Type extends keyof WorkerEvents>(
    type: Type,
    act: (event: WorkerEvents[Type]) => void,
  ) => void
}

export const worker = globalThis as unknown as WorkerScope
