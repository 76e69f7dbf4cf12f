import { call } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import type { Message } from '../../api/types.ts'
import { addressText, CHANNELS } from '../../format/channels.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { place, setQuery } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { SelectField } from '../../ui/form/fields.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { FilterChip, Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { MessageKind, MessageStatus } from '../../ui/MessageStatus.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'

const PAGE_SIZE = 50
const STATUSES = ['queued', 'sent', 'delivered', 'failed', 'suppressed'] as const
const LIVE_TYPES = ['message.*', 'alert.raised']

const chosen = <T extends string>(name: string, allowed: readonly T[]): T | '' => {
  const value = place.value.query.get(name) as T
  return allowed.includes(value) ? value : ''
}

const Retry = ({ message, onDone }: { message: Message; onDone: (message: Message) => void }) => (
  <ActionButton
    size="small"
    icon="refresh"
    onAct={async () => {
      const params = { messageId: message.id }
      onDone((await call('POST /api/account/messages/{messageId}/retry', { params })).message)
      toast(text.messages.retried)
    }}
  >
    {text.messages.retry}
  </ActionButton>
)

/** The text exactly as it is sent, on demand. */
const Content = ({ message }: { message: Message }) => (
  <details>
    <summary>
      <span class="excerpt">{message.subject || message.text}</span>
    </summary>
    <p>{message.text}</p>
    <p class="hint">{text.messages.attempts(message.attempts, message.provider)}</p>
  </details>
)

/** The device and the alert, where the message is about them. */
const About = ({ message: { deviceId, alertId } }: { message: Message }) => (
  <span class="message-about">
    {deviceId ? <DeviceLink id={deviceId} /> : text.messages.account}
    {alertId && <a href={`/alerts/${alertId}`}>{text.messages.toAlert}</a>}
  </span>
)

const canRetry = ({ status }: Message): boolean =>
  session.can('write') && (status === 'failed' || status === 'suppressed')

export default () => {
  const { query } = place.value
  const status = chosen('status', STATUSES)
  const channel = chosen('channel', CHANNELS)
  const deviceId = query.get('device') ?? ''
  const alertId = query.get('alert') ?? ''
  const pages = useList('GET /api/account/messages', 'messages', {
    query: { limit: PAGE_SIZE, status, channel, deviceId, alertId },
  })
  useLiveReload(LIVE_TYPES, pages.reload)
  const replace = (message: Message) =>
    pages.set((items) => items.map((one) => (one.id === message.id ? message : one)))
  const columns: readonly Column<Message>[] = [
    {
      key: 'content',
      label: text.messages.message,
      cell: (one) => (
        <div class="message-text">
          <Content message={one} />
          <About message={one} />
        </div>
      ),
    },
    {
      key: 'kind',
      label: text.messages.kind,
      cell: ({ kind, channel }) => (
        <span class="two-lines">
          <MessageKind kind={kind} />
          <span class="muted">{text.messages.channels[channel]}</span>
        </span>
      ),
    },
    {
      key: 'to',
      label: text.messages.to,
      cell: (one) => <div class="address">{addressText(one)}</div>,
    },
    {
      key: 'status',
      label: text.messages.status,
      cell: (one) => (
        <div class="message-outcome">
          <MessageStatus {...one} since={one.lastModified} />
          {canRetry(one) && <Retry message={one} onDone={replace} />}
        </div>
      ),
    },
  ]
  return (
    <Page title={text.messages.title} lead={text.messages.lead}>
      <Filters>
        <SelectField
          label={text.messages.status}
          value={status}
          choices={[
            { value: '', label: text.common.all },
            ...STATUSES.map((value) => ({ value, label: text.messages.statuses[value] })),
          ]}
          onChange={(value) => setQuery({ status: value })}
        />
        <SelectField
          label={text.messages.channel}
          value={channel}
          choices={[
            { value: '', label: text.common.all },
            ...CHANNELS.map((value) => ({ value, label: text.messages.channels[value] })),
          ]}
          onChange={(value) => setQuery({ channel: value })}
        />
        {(deviceId || alertId) && (
          <FilterChip onClear={() => setQuery({ device: null, alert: null })}>
            {alertId ? text.messages.ofAlert : text.messages.ofDevice}
          </FilterChip>
        )}
      </Filters>
      <Table
        label={text.messages.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="message" title={text.messages.emptyTitle}>
            {text.messages.empty}
          </Empty>
        }
      />
    </Page>
  )
}
