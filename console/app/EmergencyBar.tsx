import { signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { deviceName } from '../api/names.ts'
import { useAction } from '../api/resource.ts'
import type { Alert } from '../api/types.ts'
import { formatPosition } from '../format/units.ts'
import { session } from '../session/session.ts'
import { alertLabel, text } from '../text/text.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Time } from '../ui/Time.tsx'
import { toast } from '../ui/toast.tsx'
import { acknowledge, alarmTools, placeOf, reopen, slots } from './emergencies.ts'
import type { Slot } from './emergencySlots.ts'
import type { Place } from './newestPlace.ts'

/** Clicks so soon after a change may be meant for what was there before. */
const SETTLE_MS = 1000
const MAX_SHOWN = { wide: 3, narrow: 2 }

const narrow = matchMedia('(max-width: 520px)')
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches
})

/** When the emergency was last signalled: trackers repeat it. */
const signalTime = ({ dateTime, updates }: Alert): string => updates.at(-1)?.dateTime ?? dateTime

export const titleOf = ({ alerts, deviceId, test }: Alert): string => {
  const known = deviceName(deviceId)
  const name = known === null ? text.names.deletedDevice : (known ?? deviceId)
  return text.emergency.raised(alerts.map(alertLabel).join(', '), name, test)
}

interface BarButtonProps {
  icon: IconName
  label: string
  onAct: () => Promise<void>
}

const BarButton = ({ icon, label, onAct }: BarButtonProps) => {
  const { run, isPending, error } = useAction(onAct)
  return (
    <>
      <button
        type="button"
        class="button small solid"
        aria-busy={isPending || undefined}
        onClick={() => !isPending && run()}
      >
        {isPending ? <span class="spinner" aria-hidden="true" /> : <Icon name={icon} size={16} />}
        <span>{label}</span>
      </button>
      {error && <span role="alert">{error.message}</span>}
    </>
  )
}

/** The words that came with the alert, if they are about this place. */
const wordsOf = (alert: Alert, { latitude, longitude }: Place): string | null | undefined =>
  [alert, ...alert.updates, alert.newestPosition].find(
    (one) => one?.latitude === latitude && one.longitude === longitude && one.place,
  )?.place

const Signalled = ({ alert }: { alert: Alert }) => {
  const place = placeOf(alert)
  const words = place && wordsOf(alert, place)
  return (
    <span>
      <Time value={signalTime(alert)} isRelative />
      {' · '}
      {place ? (
        <>
          {words && `${words} · `}
          {formatPosition(place.latitude, place.longitude)} (
          <Time value={place.dateTime} isRelative />)
        </>
      ) : (
        text.emergency.noPosition
      )}
    </span>
  )
}

const Emergency = ({ slot: { alert, ended } }: { slot: Slot }) => {
  const isNamed = deviceName(alert.deviceId) !== undefined
  const canUndo = ended?.isMine && ended.as === 'acknowledged'
  return (
    <li class={ended ? 'emergency-item ended' : 'emergency-item'}>
      <span class="emergency-label">
        <Icon name={ended ? 'check' : 'warning'} size={20} />
        <b>{alert.test ? text.emergency.test : text.emergency.title}</b>
      </span>
      <div class="emergency-text">
        {/* Announced once, with the name: what follows changes while the device moves. */}
        <b key={isNamed ? 'name' : 'id'} role={isNamed ? 'alert' : undefined}>
          {titleOf(alert)}
        </b>
        {alert.text && <span class="emergency-note">{alert.text}</span>}
        {ended ? (
          <span role="status">
            {canUndo ? text.emergency.acknowledgedByYou : text.emergency.endings[ended.as]}
          </span>
        ) : (
          <Signalled alert={alert} />
        )}
      </div>
      <div class="emergency-actions">
        <a class="button small" href={`/map/${alert.deviceId}`}>
          <Icon name="pin" size={16} />
          <span>{text.emergency.show}</span>
        </a>
        <a class="button small" href={`/alerts/${alert.id}`}>
          <Icon name="list" size={16} />
          <span>{text.emergency.details}</span>
        </a>
        {session.can('write') && !ended && (
          <BarButton
            key="acknowledge"
            icon="check"
            label={text.emergency.acknowledge}
            onAct={() => acknowledge(alert.id)}
          />
        )}
        {canUndo && (
          <BarButton
            key="undo"
            icon="back"
            label={text.emergency.undo}
            onAct={() => reopen(alert.id)}
          />
        )}
      </div>
    </li>
  )
}

/** True for a second after the bar has changed what it shows, or where. */
const useSettling = (bar: RefObject<HTMLElement | null>, shown: string): boolean => {
  const [isSettling, setIsSettling] = useState(true)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const settle = () => {
    clearTimeout(timer.current)
    setIsSettling(true)
    timer.current = setTimeout(() => setIsSettling(false), SETTLE_MS)
  }
  useLayoutEffect(settle, [shown])
  useLayoutEffect(() => {
    // A row that gets longer moves the rows below it.
    const observer = new ResizeObserver(settle)
    if (bar.current) observer.observe(bar.current)
    return () => {
      observer.disconnect()
      clearTimeout(timer.current)
    }
  }, [])
  return isSettling
}

const Bar = () => {
  const [isExpanded, setIsExpanded] = useState(false)
  const bar = useRef<HTMLUListElement>(null)
  const all = slots.value
  const limit = isNarrow.value ? MAX_SHOWN.narrow : MAX_SHOWN.wide
  const shown = isExpanded ? all : all.slice(0, limit)
  const isSettling = useSettling(
    bar,
    shown.map(({ alert, ended }) => `${alert.id} ${ended?.as}`).join(),
  )
  const newest = all.at(-1)
  const Tools = alarmTools.value
  return (
    <section
      class={isSettling ? 'emergencies settling' : 'emergencies'}
      aria-label={text.emergency.region}
      onClickCapture={(event) => {
        // A key presses the button that has the focus, wherever it is now.
        if (!isSettling || event.detail === 0) return
        event.preventDefault()
        event.stopPropagation()
        toast(text.emergency.justChanged, 'failed')
      }}
    >
      <ul ref={bar}>
        {shown.map((slot) => (
          <Emergency key={slot.alert.id} slot={slot} />
        ))}
      </ul>
      {all.length > limit && newest && (
        <button
          type="button"
          class="emergency-more"
          aria-expanded={isExpanded}
          onClick={() => setIsExpanded(!isExpanded)}
        >
          {isExpanded ? (
            text.emergency.fewer
          ) : (
            <span role="alert">
              {text.emergency.more(all.length - limit, titleOf(newest.alert))}
            </span>
          )}
        </button>
      )}
      {Tools && <Tools />}
    </section>
  )
}

/** On top of every page until somebody acknowledges. */
export const EmergencyBar = () => (slots.value.length === 0 ? null : <Bar />)
