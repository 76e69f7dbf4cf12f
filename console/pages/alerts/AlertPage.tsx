import { useEffect } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { nameOfActor, usePeople } from '../../api/people.ts'
import { useResource } from '../../api/resource.ts'
import type { Alert, Message } from '../../api/types.ts'
import { emergencies } from '../../app/emergencies.ts'
import type { PageProps } from '../../app/routes.ts'
import { addressText } from '../../format/channels.ts'
import { formatPosition } from '../../format/units.ts'
import { useLiveReload } from '../../live/useLive.ts'
import { session } from '../../session/session.ts'
import { alertLabel, text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { DeviceLink, RuleLink, ZoneLink } from '../../ui/links.tsx'
import { MessageKind, MessageStatus } from '../../ui/MessageStatus.tsx'
import { Badge, Card, Facts, Page } from '../../ui/Page.tsx'
import { PlaceLine } from '../../ui/PlaceWords.tsx'
import { Empty, Failed, Pending } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { AlertState } from './AlertBadges.tsx'
import { Acknowledge, CancelAlert } from './actions.tsx'
import { Incident } from './incident/Incident.tsx'

const LIVE_TYPES = ['alert.*', 'message.*']
const parent = { href: '/alerts', label: text.alerts.title }

interface Loaded {
  alert: Alert
  /** When the status of each message last changed, by its id. */
  messages: ReadonlyMap<string, Message>
}

const load = async (alertId: string, signal: AbortSignal): Promise<Loaded> => {
  const [{ alert }, messages] = await Promise.all([
    call('GET /api/alerts/{alertId}', { params: { alertId }, signal }),
    readAll('GET /api/account/messages', 'messages', { query: { alertId }, signal }),
  ])
  return { alert, messages: new Map(messages.map((message) => [message.id, message])) }
}

const Recipients = ({ alert, messages }: Loaded) => (
  <Card title={text.alerts.recipients}>
    {alert.deliveries.length === 0 ? (
      <p class="muted">{text.alerts.noRecipients}</p>
    ) : (
      <ul class="deliveries">
        {alert.deliveries.map((delivery) => (
          <li key={delivery.id}>
            <div>
              <b>{addressText(delivery)}</b>
              <span class="muted">
                {text.messages.channels[delivery.channel]} · <MessageKind kind={delivery.kind} />
              </span>
            </div>
            <MessageStatus {...delivery} since={messages.get(delivery.id)?.lastModified} />
          </li>
        ))}
      </ul>
    )}
  </Card>
)

const Position = ({ alert }: { alert: Alert }) => {
  const { latitude, longitude, positionSource, positionTime } = alert
  if (latitude === null || longitude === null)
    return <span class="muted">{text.alerts.noPosition}</span>
  return (
    <>
      <span class="with-button">
        <span>
          <PlaceLine words={alert.place} />
          {formatPosition(latitude, longitude)}
        </span>
        <CopyButton value={`${latitude}, ${longitude}`} isSmall />
      </span>
      {positionSource === 'last-known' && (
        <p class="hint warn-text">
          {text.alerts.lastKnown} {positionTime && <Time value={positionTime} />}
        </p>
      )}
    </>
  )
}

const Details = ({ alert, messages }: Loaded) => {
  const people = usePeople().data
  const nameOf = (id: string | null) => (id === null ? '' : nameOfActor(people, id))
  return (
    <div class="columns">
      <Card title={text.alerts.details}>
        <Facts
          facts={[
            [
              text.alerts.state,
              <span key="state" class="badges">
                <AlertState alert={alert} />
                {alert.late && <Badge kind="warn">{text.alerts.late}</Badge>}
              </span>,
            ],
            [text.alerts.device, <DeviceLink key="device" id={alert.deviceId} />],
            [text.alerts.text, alert.text || text.common.none],
            [text.alerts.time, <Time key="time" value={alert.dateTime} />],
            ...(alert.ruleId
              ? ([[text.rules.rule, <RuleLink key="rule" id={alert.ruleId} />]] as const)
              : []),
            ...(alert.zoneId
              ? ([[text.zones.zone, <ZoneLink key="zone" id={alert.zoneId} />]] as const)
              : []),
            [text.alerts.position, <Position key="position" alert={alert} />],
            ...(alert.acknowledgedAt
              ? ([
                  [
                    text.alerts.states.acknowledged,
                    <span key="acknowledged">
                      <Time value={alert.acknowledgedAt} /> · {nameOf(alert.acknowledgedBy)}
                    </span>,
                  ],
                ] as const)
              : []),
            ...(alert.cancelledAt
              ? ([
                  [
                    text.alerts.states.cancelled,
                    <span key="cancelled">
                      <Time value={alert.cancelledAt} /> · {nameOf(alert.cancelledBy)}
                    </span>,
                  ],
                ] as const)
              : []),
          ]}
        />
        <div class="card-actions">
          {alert.latitude !== null && (
            <LinkButton icon="map" href={`/map/${alert.deviceId}?alert=${alert.id}`}>
              {text.alerts.onMap}
            </LinkButton>
          )}
          <LinkButton icon="message" href={`/messages?alert=${alert.id}`}>
            {text.alerts.toMessages}
          </LinkButton>
        </div>
      </Card>
      <Recipients alert={alert} messages={messages} />
    </div>
  )
}

export default ({ params: { alertId = '' } }: PageProps) => {
  const { data, error, reload, set } = useResource((signal) => load(alertId, signal), [alertId])
  useLiveReload(LIVE_TYPES, reload)
  // No event says that an open emergency was signalled again.
  const followed = emergencies.value.find(({ id }) => id === alertId)
  const signals = followed?.updates.length
  useEffect(() => {
    if (signals) reload()
  }, [signals])
  if (error?.status === 404)
    return (
      <Page title={text.alerts.title} parent={parent}>
        <Empty icon="alert" title={text.alerts.goneTitle}>
          {text.alerts.gone}
        </Empty>
      </Page>
    )
  if (!data)
    return (
      <Page title={text.alerts.alert} parent={parent}>
        {error ? <Failed error={error} onRetry={reload} /> : <Pending />}
      </Page>
    )
  const { alert } = data
  const replace = (next: Alert) => set((before) => ({ ...before, alert: next }))
  if (alert.emergency)
    return <Incident key={alert.id} alert={alert} parent={parent} onChange={replace} />
  const canAct = session.can('write')
  return (
    <Page
      title={alert.alerts.map(alertLabel).join(', ')}
      parent={parent}
      actions={
        canAct && (
          <>
            {!alert.acknowledged && <Acknowledge alert={alert} onDone={replace} />}
            {!alert.cancelled && alert.state !== 'resolved' && (
              <CancelAlert alert={alert} onDone={replace} />
            )}
          </>
        )
      }
    >
      <Details {...data} />
    </Page>
  )
}
