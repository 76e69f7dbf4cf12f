import { text } from '../text/text.ts'
import { LinkButton } from './Button.tsx'
import { Page } from './Page.tsx'

/** In the place of a page that the viewer may not use. */
export const NotAllowed = () => (
  <Page title={text.errors.notAllowedTitle} lead={text.errors.notAllowed}>
    <div class="actions">
      <LinkButton href="/">{text.errors.toMap}</LinkButton>
    </div>
  </Page>
)
