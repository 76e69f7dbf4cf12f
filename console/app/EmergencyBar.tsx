import { useState } from 'preact/hooks'
import { deviceName } from '../api/names.ts'
import { useAction } from '../api/resource.ts'
import type { Alert } from '../api/types.ts'
import { formatPosition } from '../format/units.ts'
import { session } from '../session/session.ts'
import { alertLabel, text } from '../text/text.ts'
import { Icon } from '../ui/Icon.tsx'
import { Time } from '../ui/Time.tsx'
import { toast } from '../ui/toast.tsx'
import { acknowledge, emergencies, placeOf } from './emergencies.ts'

/** When the emergency was last signalled: trackers repeat it. */
const signalTime = ({ dateTime, updates }: Alert): string => updates.at(-1)?.dateTime ?? dateTime

const Emergency = ({ alert }: { alert: Alert }) => {
  const action = useAction(async () => {
    await acknowledge(alert.id)
    toast(text.emergency.acknowledged)
  })
  const place = placeOf(alert)
  const known = deviceName(alert.deviceId)
  const name = known === null ? text.names.deletedDevice : (known ?? alert.deviceId)
  return (
    <li class="emergency-item">
      <span class="emergency-label">
        <Icon name="warning" size={20} />
        <b>{text.emergency.title}</b>
      </span>
      <div class="emergency-text">
        {/* Announced once, with the name: what follows changes while the device moves. */}
        <b
          key={known === undefined ? 'id' : 'name'}
          role={known === undefined ? undefined : 'alert'}
        >
          {text.emergency.raised(alert.alerts.map(alertLabel).join(', '), name)}
        </b>
        {alert.text && <span class="emergency-note">{alert.text}</span>}
        <span>
          <Time value={signalTime(alert)} isRelative />
          {' · '}
          {place ? (
            <>
              {formatPosition(place.latitude, place.longitude)} (
              <Time value={place.dateTime} isRelative />)
            </>
          ) : (
            text.emergency.noPosition
          )}
        </span>
        {action.error && <span role="alert">{action.error.message}</span>}
      </div>
      <div class="emergency-actions">
        <a class="button small" href={`/map/${alert.deviceId}`}>
          <Icon name="pin" size={16} />
          <span>{text.emergency.show}</span>
        </a>
        <a class="button small details" href={`/alerts/${alert.id}`}>
          <span>{text.emergency.details}</span>
        </a>
        {session.can('write') && (
          <button
            type="button"
            class="button small solid"
            aria-busy={action.isPending || undefined}
            onClick={() => !action.isPending && action.run()}
          >
            {action.isPending ? (
              <span class="spinner" aria-hidden="true" />
            ) : (
              <Icon name="check" size={16} />
            )}
            <span>{text.emergency.acknowledge}</span>
          </button>
        )}
      </div>
    </li>
  )
}

/** On top of every page until somebody acknowledges. */
export const EmergencyBar = () => {
  const [isExpanded, setIsExpanded] = useState(false)
  const all = emergencies.value
  if (all.length === 0) return null
  const shown = isExpanded ? all : all.slice(0, 1)
  return (
    <section class="emergencies" aria-label={text.emergency.region}>
      <ul>
        {shown.map((alert) => (
          <Emergency key={alert.id} alert={alert} />
        ))}
      </ul>
      {all.length > 1 && (
        <button
          type="button"
          class="emergency-more"
          aria-expanded={isExpanded}
          onClick={() => setIsExpanded(!isExpanded)}
        >
          {isExpanded ? text.emergency.fewer : text.emergency.more(all.length - 1)}
        </button>
      )}
    </section>
  )
}
