import { useList } from '../../api/list.ts'
import type { Webhook } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Time } from '../../ui/Time.tsx'
import { eventName } from './eventTypes.ts'

export const WebhookState = ({ webhook }: { webhook: Webhook }) => {
  if (webhook.enabled) return <Badge kind="good">{later.webhooks.enabled}</Badge>
  return webhook.disabledReason ? (
    <Badge kind="bad">{later.webhooks.reasons[webhook.disabledReason]}</Badge>
  ) : (
    <Badge kind="plain">{later.webhooks.disabled}</Badge>
  )
}

const columns: readonly Column<Webhook>[] = [
  {
    key: 'url',
    label: later.webhooks.url,
    cell: ({ url, description }) => (
      <span class="two-lines">
        <b>{url}</b>
        {description && <span class="muted">{description}</span>}
      </span>
    ),
  },
  {
    key: 'format',
    label: later.webhooks.format,
    cell: ({ format }) => later.webhooks.formatNames[format] ?? format,
  },
  {
    key: 'events',
    label: later.webhooks.events,
    cell: ({ events }) => events.map(eventName).join(', '),
  },
  {
    key: 'created',
    label: later.webhooks.created,
    cell: ({ creation }) => <Time value={creation} isRelative />,
    isMinor: true,
  },
  {
    key: 'state',
    label: later.webhooks.state,
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
]

export default () => (
  <ListPage
    words={{ ...text.webhooks, ...later.webhooks }}
    icon="webhook"
    path="/webhooks"
    columns={columns}
    pages={useList('GET /api/webhooks', 'webhooks')}
  />
)
