import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { text } from '../text/text.ts'
import { Icon } from './Icon.tsx'

interface PageProps {
  title: string
  children: ComponentChildren
  /** Buttons beside the title. */
  actions?: ComponentChildren
  /** The page that this one is a part of. */
  parent?: { href: string; label: string }
  lead?: ComponentChildren
}

/** Sets the title of the window. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = title ? `${title} · ${text.brand}` : text.brand
  }, [title])
}

export const Page = ({ title, children, actions, parent, lead }: PageProps) => {
  useTitle(title)
  return (
    <div class="page">
      <header class="page-header">
        <div>
          {parent && (
            <a class="parent" href={parent.href}>
              <Icon name="back" size={14} />
              {parent.label}
            </a>
          )}
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A framed part of a page. */
export const Card = ({
  title,
  id,
  children,
  actions,
}: {
  title?: string
  /** For links to it. */
  id?: string
  children: ComponentChildren
  actions?: ComponentChildren
}) => (
  <section class="card" id={id}>
    {(title || actions) && (
      <header class="card-header">
        {title && <h2>{title}</h2>}
        {actions && <div class="actions">{actions}</div>}
      </header>
    )}
    {children}
  </section>
)

export const Badge = ({
  kind,
  children,
}: {
  kind: 'good' | 'bad' | 'warn' | 'plain' | 'info'
  children: ComponentChildren
}) => <span class={`badge ${kind}`}>{children}</span>

/** Names with their values. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
