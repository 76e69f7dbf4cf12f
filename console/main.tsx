import './app/trustedTypes.ts'
import { render } from 'preact'
import { App } from './app/App.tsx'
import { startPreferences } from './format/preferences.ts'
import { startRouter } from './router/router.ts'
import { session } from './session/session.ts'
import { text } from './text/text.ts'
import './styles/base.css'
import './styles/controls.css'
import './styles/shell.css'
import './styles/content.css'
import './styles/parts.css'

const root = document.getElementById('app') as HTMLElement
startPreferences()
startRouter()
// The operator's pages know no account, and nobody else loads them.
if (/^\/operator(\/|$)/.test(location.pathname))
  import('./operator/OperatorApp.tsx').then(
    ({ OperatorApp }) => render(<OperatorApp />, root),
    () => render(<p class="noscript">{text.errors.offline}</p>, root),
  )
else {
  void session.start()
  render(<App />, root)
}
