import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { Icon } from '../../ui/Icon.tsx'

const POLL_MS = 300_000

/** What the operator says about the account, above every page. */
export default () => {
  usePolling(session.reload, POLL_MS)
  const { status, statusMessage } = session.me.value?.account ?? {}
  const words = status === 'readOnly' ? later.status.readOnly : later.status.notice
  return (
    <p class="notice" role="status">
      <Icon name="warning" size={16} />
      <span>
        {status === 'readOnly' && <b>{words} </b>}
        {statusMessage || (status === 'notice' && words)}
      </span>
    </p>
  )
}
