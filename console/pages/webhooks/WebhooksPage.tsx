import { call } from '../../api/client.ts'
import { usePages } from '../../api/resource.ts'
import type { Webhook } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge, Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { eventName } from './eventTypes.ts'

export const WebhookState = ({ webhook }: { webhook: Webhook }) => {
  if (webhook.enabled) return <Badge kind="good">{text.webhooks.enabled}</Badge>
  return webhook.disabledReason ? (
    <Badge kind="bad">{text.webhooks.reasons[webhook.disabledReason]}</Badge>
  ) : (
    <Badge kind="plain">{text.webhooks.disabled}</Badge>
  )
}

const columns: readonly Column<Webhook>[] = [
  {
    key: 'url',
    label: text.webhooks.url,
    cell: ({ url, description }) => (
      <span class="two-lines">
        <b>{url}</b>
        {description && <span class="muted">{description}</span>}
      </span>
    ),
  },
  {
    key: 'events',
    label: text.webhooks.events,
    cell: ({ events }) => events.map(eventName).join(', '),
  },
  {
    key: 'created',
    label: text.webhooks.created,
    cell: ({ creation }) => <Time value={creation} isRelative />,
    isMinor: true,
  },
  {
    key: 'state',
    label: text.webhooks.state,
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
]

export default () => {
  const pages = usePages<Webhook>(async (cursor, signal) => {
    const reply = await call('GET /api/webhooks', { query: { cursor }, signal })
    return { items: reply.webhooks, nextCursor: reply.nextCursor }
  }, [])
  const add = (
    <LinkButton kind="primary" icon="plus" href="/webhooks/new">
      {text.webhooks.add}
    </LinkButton>
  )
  return (
    <Page title={text.webhooks.title} lead={text.webhooks.lead} actions={add}>
      <Table
        label={text.webhooks.title}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        href={({ id }) => `/webhooks/${id}`}
        empty={
          <Empty icon="webhook" title={text.webhooks.emptyTitle}>
            {text.webhooks.empty}
          </Empty>
        }
      />
    </Page>
  )
}
