import type { ComponentChildren } from 'preact'
import { text } from '../../text/text.ts'
import { Logo } from '../../ui/Icon.tsx'
import { useTitle } from '../../ui/Page.tsx'

/** The frame of the pages that are shown without signing in. */
export const SignInFrame = ({
  title,
  lead,
  children,
}: {
  title: string
  lead?: ComponentChildren
  children: ComponentChildren
}) => {
  useTitle(title)
  return (
    <div class="sign-in">
      <div class="sign-in-sky" aria-hidden="true">
        <svg
          viewBox="0 0 800 800"
          preserveAspectRatio="xMidYMid slice"
          aria-hidden="true"
          focusable="false"
        >
          <g fill="none" stroke="currentColor">
            <ellipse cx="400" cy="400" rx="180" ry="112" />
            <ellipse cx="420" cy="400" rx="290" ry="190" />
            <ellipse cx="445" cy="400" rx="420" ry="286" />
            <ellipse cx="475" cy="400" rx="570" ry="402" />
          </g>
          <circle class="earth" cx="470" cy="400" r="64" />
          <circle class="sat one" cx="580" cy="400" r="7" />
          <circle class="sat two" cx="132" cy="386" r="6" />
          <circle class="sat three" cx="640" cy="146" r="5" />
        </svg>
      </div>
      <main class="sign-in-card">
        <p class="brand">
          <Logo size={34} />
          {text.brand}
        </p>
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
        {children}
      </main>
      <footer class="sign-in-foot">
        <a href="/docs">{text.signIn.reference}</a>
      </footer>
    </div>
  )
}
