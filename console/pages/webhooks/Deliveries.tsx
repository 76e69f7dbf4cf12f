import { call } from '../../api/client.ts'
import type { Pages } from '../../api/resource.ts'
import type { WebhookDelivery } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { Button } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'

const KINDS = { pending: 'info', delivered: 'good', failed: 'bad' } as const

const failureText = (failure: string): string =>
  (later.webhooks.failures as Record<string, string>)[failure] ?? failure

export const reportDelivery = ({ status, responseCode, failure }: WebhookDelivery): void =>
  status === 'delivered'
    ? toast(later.webhooks.answered(responseCode))
    : toast(later.webhooks.notAnswered(responseCode, failure && failureText(failure)), 'failed')

interface RedeliverProps {
  webhookId: string
  delivery: WebhookDelivery
  onDone: (delivery: WebhookDelivery) => void
}

const Redeliver = ({ webhookId, delivery, onDone }: RedeliverProps) => (
  <ActionButton
    size="small"
    icon="refresh"
    onAct={async () => {
      const params = { webhookId, deliveryId: delivery.id }
      const path = 'POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver'
      const reply = await call(path, { params })
      onDone(reply.delivery)
      reportDelivery(reply.delivery)
    }}
  >
    {later.webhooks.redeliver}
  </ActionButton>
)

/** The receiver's answer: somebody else's text, shown as text. */
const Answer = ({ delivery }: { delivery: WebhookDelivery }) => {
  const { responseCode, failure, durationMs, answer } = delivery
  return (
    <div class="two-lines">
      <span>
        {responseCode ?? (failure ? failureText(failure) : later.webhooks.noAnswer)}
        {durationMs !== null && <span class="muted"> · {formatNumber(durationMs)} ms</span>}
      </span>
      {answer && (
        <details>
          <summary>{later.webhooks.answer}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it. */}
          <pre class="answer" tabIndex={0}>
            {answer}
          </pre>
        </details>
      )}
    </div>
  )
}

const contentOf = ({ events, firstSequence, lastSequence }: WebhookDelivery): string =>
  firstSequence === null || lastSequence === null
    ? later.webhooks.testEvent
    : later.webhooks.eventsOf(events, firstSequence, lastSequence)

interface DeliveriesProps {
  webhookId: string
  pages: Pages<WebhookDelivery>
}

export const Deliveries = ({ webhookId, pages }: DeliveriesProps) => {
  const replace = (delivery: WebhookDelivery) =>
    pages.set((items) => items.map((one) => (one.id === delivery.id ? delivery : one)))
  const columns: readonly Column<WebhookDelivery>[] = [
    { key: 'time', label: later.webhooks.time, cell: ({ creation }) => <Time value={creation} /> },
    { key: 'content', label: later.webhooks.content, cell: contentOf },
    {
      key: 'status',
      label: later.webhooks.status,
      cell: ({ status, nextAttempt }) => (
        <span class="two-lines">
          <Badge kind={KINDS[status]}>{later.webhooks.statuses[status]}</Badge>
          {nextAttempt && (
            <span class="hint">
              {later.webhooks.nextAttempt} <Time value={nextAttempt} />
            </span>
          )}
        </span>
      ),
    },
    { key: 'answer', label: later.webhooks.answer, cell: (one) => <Answer delivery={one} /> },
    {
      key: 'attempts',
      label: later.webhooks.attempts,
      cell: ({ attempts }) => formatNumber(attempts),
      isNumber: true,
      isMinor: true,
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (one) => <Redeliver webhookId={webhookId} delivery={one} onDone={replace} />,
    },
  ]
  return (
    <section class="stack">
      <header class="section-header">
        <h2>{later.webhooks.deliveries}</h2>
        <Button size="small" icon="refresh" onClick={pages.reload}>
          {text.common.reload}
        </Button>
      </header>
      <Table
        label={later.webhooks.deliveries}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="webhook" title={later.webhooks.noDeliveriesTitle}>
            {later.webhooks.noDeliveries}
          </Empty>
        }
      />
    </section>
  )
}
