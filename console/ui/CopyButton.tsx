import { useState } from 'preact/hooks'
import { text } from '../text/text.ts'
import { Button, IconButton } from './Button.tsx'

const SHOWN_MS = 2000

/** Copies a text. `isSmall` leaves out the word. */
export const CopyButton = ({ value, isSmall = false }: { value: string; isSmall?: boolean }) => {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(value)
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), SHOWN_MS)
  }
  const label = isCopied ? text.common.copied : text.common.copy
  const icon = isCopied ? 'check' : 'copy'
  return (
    <>
      {isSmall ? (
        <IconButton icon={icon} label={label} onClick={copy} size={15} />
      ) : (
        <Button icon={icon} size="small" onClick={copy}>
          {label}
        </Button>
      )}
      <span class="visually-hidden" aria-live="polite">
        {isCopied ? text.common.copied : ''}
      </span>
    </>
  )
}
