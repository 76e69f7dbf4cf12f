import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './Icon.tsx'

export interface ButtonProps {
  children: ComponentChildren
  onClick?: (event: MouseEvent) => void
  type?: 'button' | 'submit'
  kind?: 'primary' | 'plain' | 'danger' | 'quiet' | undefined
  icon?: IconName | undefined
  size?: 'small' | 'normal' | undefined
  disabled?: boolean | undefined
  /** Shows a spinner and ignores clicks. */
  isPending?: boolean
  title?: string
}

export const Button = ({
  children,
  onClick,
  type = 'button',
  kind = 'plain',
  icon,
  size = 'normal',
  disabled = false,
  isPending = false,
  title,
}: ButtonProps) => (
  <button
    type={type}
    class={`button ${kind} ${size}`}
    disabled={disabled}
    aria-disabled={isPending || undefined}
    aria-busy={isPending || undefined}
    title={title}
    onClick={(event) => {
      if (isPending) event.preventDefault()
      else onClick?.(event)
    }}
  >
    {isPending ? (
      <span class="spinner" aria-hidden="true" />
    ) : (
      icon && <Icon name={icon} size={16} />
    )}
    <span>{children}</span>
  </button>
)

interface IconButtonProps {
  icon: IconName
  label: string
  onClick: (event: MouseEvent) => void
  isPressed?: boolean
  disabled?: boolean
  size?: number
  class?: string
}

/** A button that shows only an icon. `label` is read aloud and shown on hover. */
export const IconButton = ({
  icon,
  label,
  onClick,
  isPressed,
  disabled,
  size,
  class: name = '',
}: IconButtonProps) => (
  <button
    type="button"
    class={`icon-button ${name}`}
    aria-label={label}
    aria-pressed={isPressed}
    disabled={disabled}
    title={label}
    onClick={onClick}
  >
    <Icon name={icon} {...(size && { size })} />
  </button>
)

interface LinkButtonProps {
  href: string
  children: ComponentChildren
  kind?: 'primary' | 'plain' | 'quiet'
  icon?: IconName
  size?: 'small' | 'normal'
}

export const LinkButton = ({
  href,
  children,
  kind = 'plain',
  icon,
  size = 'normal',
}: LinkButtonProps) => (
  <a class={`button ${kind} ${size}`} href={href}>
    {icon && <Icon name={icon} size={16} />}
    <span>{children}</span>
  </a>
)
