import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { SignInFrame } from '../signIn/SignInFrame.tsx'

const POLL_MS = 60_000

/** Instead of every page, while nothing of the account can be read. */
export default () => {
  usePolling(session.reload, POLL_MS)
  const { name, statusMessage } = session.me.value?.account ?? {}
  return (
    <SignInFrame title={later.status.ingestOnlyTitle} lead={name}>
      <div class="stack">
        {statusMessage && <p class="note">{statusMessage}</p>}
        <p>{later.status.ingestOnly}</p>
        <p>{later.status.emergencies}</p>
        <div class="form-actions">
          <ActionButton kind="primary" icon="refresh" onAct={session.reload}>
            {text.common.tryAgain}
          </ActionButton>
          <ActionButton icon="out" onAct={() => session.signOut()}>
            {text.shell.signOut}
          </ActionButton>
        </div>
      </div>
    </SignInFrame>
  )
}
