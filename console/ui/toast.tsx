import { signal } from '@preact/signals'
import { Icon } from './Icon.tsx'

interface Toast {
  id: number
  message: string
  kind: 'done' | 'failed'
}

const SHOWN_MS = 6000
const toasts = signal<Toast[]>([])
let lastId = 0

/** Shows a short message at the edge of the page, and has it read aloud. */
export const toast = (message: string, kind: Toast['kind'] = 'done'): void => {
  const id = ++lastId
  toasts.value = [...toasts.value, { id, message, kind }]
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id)
  }, SHOWN_MS)
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, message, kind }) => (
      <p key={id} class={`toast ${kind}`}>
        <Icon name={kind === 'done' ? 'check' : 'warning'} />
        {message}
      </p>
    ))}
  </div>
)
