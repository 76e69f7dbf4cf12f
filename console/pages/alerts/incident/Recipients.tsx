import type { Delivery } from '../../../api/types.ts'
import { addressText } from '../../../format/channels.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { MessageKind, MessageStatus } from '../../../ui/MessageStatus.tsx'
import { Badge, Card } from '../../../ui/Page.tsx'
import { groupByPerson, type Reached } from './recipients.ts'

const KINDS: Record<Reached, 'good' | 'info' | 'plain' | 'bad'> = {
  reached: 'good',
  sent: 'info',
  waiting: 'plain',
  'not-reached': 'bad',
}

/** Who was notified and what became of it, by person. */
export const Recipients = ({ deliveries }: { deliveries: readonly Delivery[] }) => (
  <Card title={text.alerts.recipients}>
    {deliveries.length === 0 ? (
      <p class="warn-text">{text.alerts.noRecipients}</p>
    ) : (
      <ul class="recipients">
        {groupByPerson(deliveries).map(({ key, name, reached, deliveries: own }) => (
          <li key={key}>
            <h3>
              {name}
              <Badge kind={KINDS[reached]}>{later.incident.reached[reached]}</Badge>
            </h3>
            <ul class="deliveries">
              {own.map((delivery) => (
                <li key={delivery.id}>
                  <div>
                    <span>{addressText(delivery)}</span>
                    <span class="muted">
                      {text.messages.channels[delivery.channel]} ·{' '}
                      <MessageKind kind={delivery.kind} />
                    </span>
                  </div>
                  <MessageStatus {...delivery} since={delivery.changedAt} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    )}
  </Card>
)
