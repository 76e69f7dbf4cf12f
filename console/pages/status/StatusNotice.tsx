import { useEffect } from 'preact/hooks'
import { account, loadAccount } from '../../api/account.ts'
import { call } from '../../api/client.ts'
import { formatDateTime } from '../../format/time.ts'
import { usePolling } from '../../live/usePolling.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'

const POLL_MS = 300_000

/** The banner of the support itself, which sees the account. */
const OwnSupport = ({ name, until }: { name: string; until: string }) => (
  <p class="notice" role="status">
    <Icon name="eye" size={16} />
    {later.status.support(name, formatDateTime(until))}
    <Button size="small" onClick={() => void session.signOut()}>
      {later.status.leaveSupport}
    </Button>
  </p>
)

/** Tells the account who of the operator's support sees it, while it lasts. */
const Support = () => (
  <>
    {(account.value?.support ?? []).map(({ id, operator, reason, until }) => (
      <div key={id} class="notice" role="status">
        <Icon name="eye" size={16} />
        {later.status.hasAccess(operator, reason, formatDateTime(until))}
        {session.can('admin') && !session.me.value?.isConfined && (
          <ActionButton
            size="small"
            onAct={async () => {
              await call('DELETE /api/account/keys/{keyId}', { params: { keyId: id } })
              await loadAccount()
            }}
          >
            {later.status.endAccess}
          </ActionButton>
        )}
      </div>
    ))}
  </>
)

/** Says on every page that nothing here is real. */
const Sandbox = ({ erasesAt }: { erasesAt: string | null }) => (
  <div class="notice" role="status">
    <Icon name="info" size={16} />
    <span>
      <b>{later.sandboxes.banner}</b>{' '}
      {erasesAt !== null && later.sandboxes.bannerErases(formatDateTime(erasesAt))}
    </span>
    {erasesAt !== null && session.can('admin') && !session.me.value?.isConfined && (
      <ActionButton
        size="small"
        onAct={async () => {
          await call('POST /api/account/sandbox/keep')
          await reload()
        }}
      >
        {later.sandboxes.keep}
      </ActionButton>
    )}
  </div>
)

const reload = async (): Promise<void> => {
  await Promise.all([session.reload(), loadAccount()])
}

/** What the operator says about the account, and who of its support sees it, above every page. */
export default () => {
  useEffect(() => void loadAccount().catch(() => undefined), [])
  usePolling(reload, POLL_MS)
  const { name = '', status, statusMessage, sandbox } = session.me.value?.account ?? {}
  const until = session.supportUntil.value
  const words = status === 'readOnly' ? later.status.readOnly : later.status.notice
  return (
    <>
      {until === null ? <Support /> : <OwnSupport name={name} until={until} />}
      {sandbox && <Sandbox erasesAt={sandbox.erasesAt} />}
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
