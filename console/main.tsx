import './app/trustedTypes.ts'
import { render } from 'preact'
import { App } from './app/App.tsx'
import { startPreferences } from './format/preferences.ts'
import { startRouter } from './router/router.ts'
import { session } from './session/session.ts'
import './styles/base.css'
import './styles/controls.css'
import './styles/shell.css'
import './styles/content.css'
import './styles/parts.css'

startPreferences()
startRouter()
void session.start()
render(<App />, document.getElementById('app') as HTMLElement)
