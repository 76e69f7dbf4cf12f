import type { ComponentChildren } from 'preact'
import { text } from '../../text/text.ts'
import { Button } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { Icon } from '../Icon.tsx'
import { Dialog } from './Dialog.tsx'

/** A text in a frame with a button that copies it. */
export const CodeLine = ({ label, value }: { label: string; value: string }) => (
  <div class="code-line">
    <p class="code-label">{label}</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it. */}
    <pre tabIndex={0}>
      <code>{value}</code>
    </pre>
    <CopyButton value={value} />
  </div>
)

interface ShownOnceProps {
  title: string
  label: string
  value: string | null
  children?: ComponentChildren
  onClose: () => void
}

/** Shows a secret that the service replies only once. */
export const ShownOnce = ({ title, label, value, children, onClose }: ShownOnceProps) => (
  <Dialog
    title={title}
    onClose={onClose}
    size="large"
    canClose={false}
    actions={
      <Button kind="primary" onClick={onClose}>
        {text.secret.stored}
      </Button>
    }
  >
    <div class="stack">
      <p class="once">
        <Icon name="warning" />
        {text.secret.once}
      </p>
      {value === null ? <p>{text.secret.notAgain}</p> : <CodeLine label={label} value={value} />}
      {children}
    </div>
  </Dialog>
)
