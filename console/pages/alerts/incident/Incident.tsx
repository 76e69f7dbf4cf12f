import { useEffect, useMemo } from 'preact/hooks'
import { deviceName } from '../../../api/names.ts'
import { nameOfActor, usePeople } from '../../../api/people.ts'
import { useResource } from '../../../api/resource.ts'
import type { Alert, Location } from '../../../api/types.ts'
import { newestPlace } from '../../../app/newestPlace.ts'
import { HOUR_MS } from '../../../format/time.ts'
import { session } from '../../../session/session.ts'
import { later } from '../../../text/later.ts'
import { alertLabel, text } from '../../../text/text.ts'
import { DeviceLink } from '../../../ui/links.tsx'
import { Badge, Card, Page } from '../../../ui/Page.tsx'
import { Time } from '../../../ui/Time.tsx'
import { Conversation } from '../../devices/conversation/Conversation.tsx'
import { findMember, fleet, startFleet } from '../../map/fleet/fleet.ts'
import { readTrack } from '../../map/track/track.ts'
import { AlertState } from '../AlertBadges.tsx'
import { Acknowledge, CancelAlert, StepButton } from '../actions.tsx'
import { DrillOutcome } from '../DrillOutcome.tsx'
import { IncidentMap } from './IncidentMap.tsx'
import './incident.css'
import { Log } from './Log.tsx'
import { Nearest } from './Nearest.tsx'
import { findNearest } from './nearest.ts'
import { PositionCard } from './PositionCard.tsx'
import { Recipients } from './Recipients.tsx'

const TRACK_MS = 6 * HOUR_MS
/** The clocks of devices may be ahead. */
const AHEAD_MS = HOUR_MS / 6

const endOf = ({ resolvedAt, cancelledAt }: Alert): string | null => resolvedAt ?? cancelledAt

/** Positions of the last hours until the emergency was over, and those that come in. */
const useTrack = (alert: Alert, last: Location | null): readonly Location[] => {
  const { deviceId } = alert
  const ended = endOf(alert)
  const { data } = useResource(
    (signal) => {
      const end = ended ? Date.parse(ended) : Date.now()
      const from = new Date(end - TRACK_MS).toISOString()
      return readTrack(deviceId, { from, to: new Date(end + AHEAD_MS).toISOString() }, signal)
    },
    [deviceId, ended],
  )
  // Kept in the array itself: each new position is added to those before it.
  const added = useMemo<Location[]>(() => [], [data])
  return useMemo(() => {
    const newest = added.at(-1) ?? data?.at(-1)
    if (last && !ended && (!newest || last.dateTime > newest.dateTime)) added.push(last)
    return [...(data ?? []), ...added]
  }, [data, last])
}

/** Who did the newest step, and when. */
const Handled = ({ alert, nameOf }: { alert: Alert; nameOf: (id: string) => string }) => {
  const [at, by] = {
    open: [null, null],
    acknowledged: [alert.acknowledgedAt, alert.acknowledgedBy],
    resolved: [alert.resolvedAt, alert.resolvedBy],
    cancelled: [alert.cancelledAt, alert.cancelledBy],
  }[alert.state]
  if (!at) return <>{later.incident.nobodyYet}</>
  return (
    <>
      {later.incident.handled[alert.state as 'acknowledged']} {by && <b>{nameOf(by)}</b>}{' '}
      <Time value={at} isRelative />
    </>
  )
}

interface IncidentProps {
  alert: Alert
  parent: { href: string; label: string }
  onChange: (alert: Alert) => void
}

const Actions = ({ alert, onDone }: { alert: Alert; onDone: IncidentProps['onChange'] }) => {
  const given = { alert, onDone }
  const { state } = alert
  const isOver = state === 'resolved' || state === 'cancelled'
  return (
    <div class="incident-actions">
      {state === 'open' && <Acknowledge {...given} />}
      {!isOver && (
        <StepButton
          {...given}
          step="resolve"
          icon="check"
          kind={state === 'open' ? 'plain' : 'primary'}
        />
      )}
      {!isOver && <CancelAlert {...given} />}
      {state !== 'open' && !alert.test && <StepButton {...given} step="reopen" icon="refresh" />}
    </div>
  )
}

/** All that a dispatcher needs to handle an emergency. */
export const Incident = ({ alert, parent, onChange }: IncidentProps) => {
  const { deviceId } = alert
  useEffect(startFleet, [])
  const people = usePeople().data
  const nameOf = (id: string) => nameOfActor(people, id)
  const name = deviceName(deviceId) ?? text.names.deletedDevice
  const member = findMember(deviceId)
  const last = member?.device.lastLocation ?? null
  const place = newestPlace(alert, last ?? undefined)
  const accuracy = last?.dateTime === place?.dateTime ? (last?.accuracy ?? null) : null
  const track = useTrack(alert, last)
  const members = fleet.value
  const nearest = useMemo(
    () => (place ? findNearest(members, place, deviceId) : []),
    [members, place?.latitude, place?.longitude],
  )
  const isOver = endOf(alert) !== null
  return (
    <Page
      title={text.emergency.raised(alert.alerts.map(alertLabel).join(', '), name, alert.test)}
      parent={parent}
      lead={
        <>
          <span class="badges">
            <AlertState alert={alert} />
            {alert.test && <Badge kind="info">{later.incident.test}</Badge>}
            {alert.late && <Badge kind="warn">{text.alerts.late}</Badge>}
            <span>
              {later.incident.raised} <Time value={alert.dateTime} isRelative /> (
              <Time value={alert.dateTime} />) · <DeviceLink id={deviceId} />
            </span>
          </span>
          <span class="incident-handled">
            <Handled alert={alert} nameOf={nameOf} />
          </span>
          {alert.text && <span class="incident-text">{alert.text}</span>}
        </>
      }
      actions={session.can('write') && <Actions alert={alert} onDone={onChange} />}
    >
      <div class={place ? 'incident-top' : ''}>
        {place && <IncidentMap {...{ name, deviceId, place, accuracy, isOver, track, nearest }} />}
        <PositionCard alert={alert} place={place} location={last} accuracy={accuracy} />
      </div>
      <div class="columns">
        {place && <Nearest nearest={nearest} />}
        {alert.drill && (
          <Card title={later.drill.card}>
            <DrillOutcome drill={alert.drill} />
          </Card>
        )}
        <Recipients deliveries={alert.deliveries} />
        <Log alert={alert} nameOf={nameOf} onDone={onChange} />
      </div>
      {member && <Conversation key={deviceId} device={member.device} />}
    </Page>
  )
}
