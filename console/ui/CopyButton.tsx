import { useState } from 'preact/hooks'
import { text } from '../text/text.ts'
import { Button, IconButton } from './Button.tsx'

const SHOWN_MS = 2000

interface CopyButtonProps {
  value: string
  /** Leaves out the word. */
  isSmall?: boolean
  /** Says what is copied where several buttons are near. */
  label?: string
}

/** Copies a text. */
export const CopyButton = ({
  value,
  isSmall = false,
  label: what = text.common.copy,
}: CopyButtonProps) => {
  const [isCopied, setIsCopied] = useState(false)
  const [hasFailed, setHasFailed] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
    } catch {
      // The clipboard needs https or localhost, and the browser's permission.
      setHasFailed(true)
      return
    }
    setHasFailed(false)
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), SHOWN_MS)
  }
  const label = isCopied ? text.common.copied : what
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
      <span class={hasFailed ? 'field-error' : 'visually-hidden'} aria-live="polite">
        {hasFailed ? text.common.copyFailed : isCopied ? text.common.copied : ''}
      </span>
    </>
  )
}
