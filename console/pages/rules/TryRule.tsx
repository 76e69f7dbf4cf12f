import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Location, Rule, TestedAlert, Zone } from '../../api/types.ts'
import { canEditRules, zoneIdsOf } from '../../api/zonesAndRules.ts'
import { formatPosition } from '../../format/units.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { SpanField } from '../../ui/form/SpanField.tsx'
import { type ChosenSpan, lastSpan, spanFault } from '../../ui/form/span.ts'
import { Badge, Card } from '../../ui/Page.tsx'
import { Refusal } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { MapFrame } from '../map/MapFrame.tsx'
import { readTrack } from '../map/track/track.ts'
import type { Place } from '../map/track/trackMath.ts'
import { usePlainMap } from '../map/useMap.ts'
import { isBeforeChange } from './lastChange.ts'
import { switchRule } from './RuleSwitch.tsx'

interface Result {
  alerts: readonly TestedAlert[]
  track: readonly Location[]
  /** Where the test stopped, unless it evaluated the whole span. */
  testedUntil: string | null
}

interface ResultProps extends Omit<Result, 'testedUntil'> {
  zones: readonly Zone[]
  chosen: number | null
}

const placeOf = ({ latitude, longitude }: TestedAlert): Place | null =>
  latitude === null || longitude === null ? null : { latitude, longitude }

/** The track, with the zones of the rule and the places of its alerts. */
const ResultMap = ({ alerts, track, zones, chosen }: ResultProps) => {
  const shown = usePlainMap(later.rules.tryMap)
  const { map } = shown
  // Alerts without a place keep their number.
  const points = useMemo(
    () => alerts.flatMap((alert, at) => ({ at, place: placeOf(alert) })),
    [alerts],
  )
  useEffect(() => map?.setZones(zones), [map, zones])
  useEffect(() => {
    map?.setTrack(track)
    map?.fitPlaces(track)
  }, [map, track])
  useEffect(() => {
    const placed = points.filter(({ place }) => place !== null)
    const at = placed.findIndex((point) => point.at === chosen)
    map?.setPoints(
      placed.map(({ place }) => place as Place),
      at < 0 ? null : at,
    )
    const here = placed[at]?.place
    if (here) map?.showPlace(here)
  }, [map, points, chosen])
  return (
    <div class="try-map">
      <MapFrame shown={shown} />
    </div>
  )
}

interface AlertListProps extends Pick<ResultProps, 'alerts' | 'chosen'> {
  rule: Rule
  onChoose: (at: number) => void
}

const AlertList = ({ alerts, chosen, rule, onChoose }: AlertListProps) => (
  <ol class="try-list" aria-label={text.alerts.title}>
    {alerts.map((alert, at) => (
      <li key={at}>
        <button type="button" aria-pressed={chosen === at} onClick={() => onChoose(at)}>
          <b>{alert.text}</b>
          <Time value={alert.dateTime} />
          {isBeforeChange(alert, rule) && <Badge kind="plain">{later.rules.beforeChange}</Badge>}
          {alert.latitude !== null && alert.longitude !== null && (
            <span class="muted">{formatPosition(alert.latitude, alert.longitude)}</span>
          )}
        </button>
      </li>
    ))}
  </ol>
)

interface TryRuleProps {
  rule: Rule
  zones: readonly Zone[]
  isDirty: boolean
  onChange: (rule: Rule) => void
}

const SwitchOn = (props: Pick<TryRuleProps, 'rule' | 'onChange'>) => (
  <div>
    <ActionButton kind="primary" icon="check" onAct={() => switchRule(props, true)}>
      {later.rules.switchOn}
    </ActionButton>
  </div>
)

/** Tries the stored rule on the history of a device. */
export const TryRule = ({ rule, zones, isDirty, onChange }: TryRuleProps) => {
  const [devices, setDevices] = useState<readonly string[]>(rule.devices.slice(0, 1))
  const [span, setSpan] = useState<ChosenSpan>(() => lastSpan('7d', Date.now()))
  const [result, setResult] = useState<Result | null>(null)
  const [chosen, setChosen] = useState<number | null>(null)
  const [deviceId] = devices
  const run = useAction(async () => {
    if (!deviceId) return
    const { from, to } = span.name === 'custom' ? span : lastSpan(span.name, Date.now())
    const body = { deviceId, from, to }
    const options = { params: { ruleId: rule.id }, body, isQuery: true }
    const [{ alerts, testedUntil }, track] = await Promise.all([
      call('POST /api/rules/{ruleId}/test', options),
      readTrack(deviceId, { from, to }, new AbortController().signal),
    ])
    setChosen(null)
    setResult({ alerts, track, testedUntil })
  })
  const ruleZones = useMemo(() => {
    const ids = zoneIdsOf(rule)
    return zones.filter(({ id }) => ids.includes(id))
  }, [rule, zones])
  // What was found by another condition says nothing about this one.
  const { when, schedule, hysteresis, cooldownMinutes } = rule
  const evaluated = JSON.stringify([when, schedule, hysteresis, cooldownMinutes])
  useLayoutEffect(() => setResult(null), [evaluated])
  const { error } = run
  const earlier = result?.alerts.filter((alert) => isBeforeChange(alert, rule)).length ?? 0
  return (
    <Card title={later.rules.try}>
      <p class="hint try-hint">
        {later.rules.tryHint} {later.rules.tryChanged} <Time value={rule.lastModified} />
      </p>
      <Form
        submitLabel={later.rules.trySubmit}
        action={run}
        canSubmit={!isDirty && deviceId !== undefined && !spanFault(span)}
        refusal={
          error?.code === 'span-too-large' ? (
            <Refusal error={error}>{later.rules.tryTooLarge}</Refusal>
          ) : undefined
        }
      >
        <DevicePicker
          label={later.rules.tryDevice}
          values={devices}
          onChange={setDevices}
          maxCount={1}
          pointer="/deviceId"
          error={error}
        />
        <SpanField value={span} onChange={setSpan} />
        {isDirty && <p class="hint warn-text">{later.rules.trySaved}</p>}
      </Form>
      {result && (
        <div class="stack try-result">
          <p role="status">
            <b>{later.rules.tried(result.alerts.length)}</b>{' '}
            {result.track.length === 0 && later.rules.noTrack}
            {earlier > 0 && `${later.rules.triedBefore(earlier, result.alerts.length)} `}
            {result.testedUntil !== null && (
              <>
                {later.rules.triedUntil} <Time value={result.testedUntil} />
              </>
            )}
          </p>
          {!rule.enabled && canEditRules() && <SwitchOn rule={rule} onChange={onChange} />}
          <AlertList alerts={result.alerts} chosen={chosen} rule={rule} onChoose={setChosen} />
          <ResultMap
            alerts={result.alerts}
            track={result.track}
            zones={ruleZones}
            chosen={chosen}
          />
        </div>
      )}
    </Card>
  )
}
