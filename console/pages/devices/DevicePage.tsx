import { call } from '../../api/client.ts'
import { readGroups } from '../../api/people.ts'
import { useResource } from '../../api/resource.ts'
import type { Device } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { formatDay } from '../../format/time.ts'
import { formatPosition, formatSpeed } from '../../format/units.ts'
import { useLiveEvents } from '../../live/useLive.ts'
import { usePolling } from '../../live/usePolling.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { LinkButton } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Bar } from '../../ui/Meter.tsx'
import { Card, Facts, Page } from '../../ui/Page.tsx'
import { PlaceWords } from '../../ui/PlaceWords.tsx'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { quarantinedText } from '../../ui/Waiting.tsx'
import { TripsPanel } from '../trips/TripsPanel.tsx'
import { DeviceWatches } from '../watches/DeviceWatches.tsx'
import { Conversation } from './conversation/Conversation.tsx'
import { DeviceActions } from './DeviceActions.tsx'
import { DeviceBadge } from './DeviceBadge.tsx'
import './devices.css'
import { QUARANTINE_ID, Quarantine } from './Quarantine.tsx'
import { UsageChart } from './UsageChart.tsx'

const LIVE_TYPES = ['device.*', 'message.*', 'limit.reached', 'location.reported']

const Position = ({ device: { id, lastLocation } }: { device: Device }) => {
  if (!lastLocation) return <span class="muted">{text.devices.noPosition}</span>
  const { latitude, longitude, speed, dateTime } = lastLocation
  return (
    <>
      <PlaceWords id={id} position={lastLocation} />
      <a href={`/map/${id}`}>{formatPosition(latitude, longitude)}</a>
      <br />
      <Time value={dateTime} isRelative />
      {speed !== undefined && ` · ${formatSpeed(speed)}`}
    </>
  )
}

const Tags = ({ tags }: { tags: Record<string, string> }) => (
  <ul class="tags">
    {Object.entries(tags).map(([name, value]) => (
      <li key={name}>
        <span class="muted">{name}</span> {value}
      </li>
    ))}
  </ul>
)

const Details = ({ device, groupNames }: { device: Device; groupNames: readonly string[] }) => {
  const none = <span class="muted">–</span>
  const { limits } = device
  return (
    <Card title={text.devices.details}>
      <Facts
        facts={[
          [text.devices.state, <DeviceBadge key="state" device={device} />],
          [
            text.devices.expires,
            limits.expires && limits.expirationDate ? (
              <span title={device.expires ?? ''}>{formatDay(limits.expirationDate)}</span>
            ) : (
              text.devices.noExpiry
            ),
          ],
          [text.devices.position, <Position key="position" device={device} />],
          [text.devices.lastContact, <Time key="contact" value={device.lastContact} isRelative />],
          [
            text.devices.identifier,
            device.identifier ? <code key="identifier">{device.identifier}</code> : none,
          ],
          [text.devices.model, device.model || none],
          [text.devices.min, device.min || none],
          [
            text.devices.speedCheck,
            device.maxSpeed > 0 ? formatSpeed(device.maxSpeed) : text.devices.noMaxSpeed,
          ],
          [text.devices.groups, groupNames.length > 0 ? groupNames.join(', ') : none],
          [text.devices.description, device.description || none],
          [
            text.tags.title,
            Object.keys(device.tags).length > 0 ? <Tags key="tags" tags={device.tags} /> : none,
          ],
          [text.devices.created, <Time key="creation" value={device.creation} />],
          [text.devices.changed, <Time key="modified" value={device.lastModified} />],
          [
            text.devices.id,
            <span key="id" class="with-button">
              <code>{device.id}</code>
              <CopyButton value={device.id} isSmall />
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

const Usage = ({ device: { usage, limits } }: { device: Device }) => {
  // A limit of 0 is none that is reached: nothing goes out on any day.
  const isReached = [
    [usage.emailsSent, limits.dailyEmailLimit],
    [usage.smsSent, limits.dailySmsLimit],
  ].some(([sent = 0, limit = 0]) => limit > 0 && sent >= limit)
  return (
    <Card title={text.devices.usageToday}>
      <div class="stack">
        <Bar
          label={text.devices.emails}
          value={usage.emailsSent}
          max={limits.dailyEmailLimit}
          figures={text.devices.ofLimit(usage.emailsSent, limits.dailyEmailLimit)}
        />
        <Bar
          label={text.devices.sms}
          value={usage.smsSent}
          max={limits.dailySmsLimit}
          figures={text.devices.ofLimit(usage.smsSent, limits.dailySmsLimit)}
        />
        <p class="hint">
          {isReached ? text.devices.limitReached : text.devices.usageDay(formatDay(usage.date))}
        </p>
      </div>
    </Card>
  )
}

/** Other pages that can show this device alone. */
const SeeAlso = ({ id }: { id: string }) => (
  <Card title={text.devices.seeAlso}>
    <div class="card-links">
      <LinkButton icon="alert" size="small" href={`/alerts?show=all&device=${id}`}>
        {text.alerts.title}
      </LinkButton>
      <LinkButton icon="message" size="small" href={`/messages?device=${id}`}>
        {text.messages.title}
      </LinkButton>
      <LinkButton icon="event" size="small" href={`/events?device=${id}`}>
        {text.events.title}
      </LinkButton>
    </div>
  </Card>
)

const ExpiredNote = ({ device }: { device: Device }) => (
  <p class="note">
    <Icon name="clock" />
    <span>
      {text.devices.expiredNote}{' '}
      {device.lastContact && (
        <>
          {text.devices.expiredAlive} <Time value={device.lastContact} isRelative />.
        </>
      )}
    </span>
  </p>
)

const readGroupNames = async (ids: readonly string[], signal: AbortSignal): Promise<string[]> => {
  if (ids.length === 0) return []
  return (await readGroups(signal)).filter(({ id }) => ids.includes(id)).map(({ name }) => name)
}

export default ({ params: { deviceId = '' } }: PageProps) => {
  const { data, error, reload, set } = useResource(
    async (signal) => {
      const { device } = await call('GET /api/devices/{deviceId}', { params: { deviceId }, signal })
      return { device, groupNames: await readGroupNames(device.groups, signal) }
    },
    [deviceId],
  )
  usePolling(async (signal) => {
    const reply = await call('GET /api/devices/{deviceId}', { params: { deviceId }, signal })
    set((before) => ({ ...before, device: reply.device }))
  })
  useLiveEvents(LIVE_TYPES, ({ data: { deviceId: id } }) => id === deviceId && reload(), reload)
  const parent = { href: '/devices', label: text.devices.title }
  const isGone = error?.status === 404
  if (!data || isGone)
    return (
      <Page title={text.devices.title} parent={parent}>
        {error ? <Failed error={error} onRetry={reload} /> : <Skeleton />}
      </Page>
    )
  const { device, groupNames } = data
  return (
    <Page
      title={device.name}
      parent={parent}
      actions={
        <DeviceActions
          device={device}
          onChange={(changed) => set((before) => ({ ...before, device: changed }))}
        />
      }
    >
      {device.state === 'expired' && <ExpiredNote device={device} />}
      {device.quarantined > 0 && (
        <p class="note">
          <Icon name="warning" />
          <a href={`#${QUARANTINE_ID}`}>{text.quarantine.note(quarantinedText(device))}</a>
        </p>
      )}
      <div class="device-columns">
        <Details device={device} groupNames={groupNames} />
        <div class="stack">
          <DeviceWatches key={device.id} deviceId={device.id} />
          <Usage device={device} />
          <UsageChart deviceId={device.id} today={device.usage.date} />
          <SeeAlso id={device.id} />
        </div>
      </div>
      <TripsPanel key={`trips-${device.id}`} deviceId={device.id} />
      <Conversation key={`conversation-${device.id}`} device={device} />
      <Quarantine key={`quarantine-${device.id}`} device={device} onAccepted={reload} />
      <WhoChanged key={`audit-${device.id}`} id={device.id} />
    </Page>
  )
}
