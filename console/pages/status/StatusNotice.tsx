import { formatDateTime } from '../../format/time.ts'
import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'

const POLL_MS = 300_000

/** What the operator says about the account, and that support sees it, above every page. */
export default () => {
  usePolling(session.reload, POLL_MS)
  const { name = '', status, statusMessage } = session.me.value?.account ?? {}
  const until = session.supportUntil.value
  const words = status === 'readOnly' ? later.status.readOnly : later.status.notice
  return (
    <>
      {until !== null && (
        <p class="notice" role="status">
          <Icon name="eye" size={16} />
          {later.status.support(name, formatDateTime(until))}
          <Button size="small" onClick={() => void session.signOut()}>
            {later.status.leaveSupport}
          </Button>
        </p>
      )}
      {status !== 'active' && (
        <p class="notice" role="status">
          <Icon name="warning" size={16} />
          <span>
            {status === 'readOnly' && <b>{words} </b>}
            {statusMessage || (status === 'notice' && words)}
          </span>
        </p>
      )}
    </>
  )
}
