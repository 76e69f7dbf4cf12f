import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Location } from '../../api/types.ts'
import { canSeeRules, readZones } from '../../api/zonesAndRules.ts'
import { useReloadWhenBack } from '../../app/reloadWhenBack.ts'
import type { PageProps } from '../../app/routes.ts'
import { zonesShown } from '../../format/preferences.ts'
import { navigate, place } from '../../router/router.ts'
import { alertLabel, text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import { useTitle } from '../../ui/Page.tsx'
import type { FleetMap } from './FleetMap.ts'
import { AlertCard, type PlacedAlert, placedAlert } from './fleet/AlertCard.tsx'
import { DeviceCard } from './fleet/DeviceCard.tsx'
import { FleetList } from './fleet/FleetList.tsx'
import { findMember, fleet, isLoading, loadError, startFleet } from './fleet/fleet.ts'
import { keepView, readView } from './keptView.ts'
import { MapFrame } from './MapFrame.tsx'
import { mapHref } from './mapHref.ts'
import type { TrackPanel as TrackPanelType } from './track/TrackPanel.tsx'
import type { Place } from './track/trackMath.ts'
import { useFleetMap } from './useMap.ts'

/** The alert of the address; null without one, or if it has no position or cannot be read. */
const useAlert = (alertId: string | null) => {
  const { data, isPending } = useResource(
    async (signal) => {
      if (alertId === null) return null
      const { alert } = await call('GET /api/alerts/{alertId}', { params: { alertId }, signal })
      return placedAlert(alert)
    },
    [alertId],
  )
  return { alert: data, isAlertPending: alertId !== null && isPending }
}

interface Shown {
  selectedId: string | null
  alert: PlacedAlert | null
  isAlertPending: boolean
}

/** Shows the fleet, and the selected device or where its alert happened; a click selects another. */
const useFollowedFleet = ({ selectedId, alert, isAlertPending }: Shown) => {
  const shown = useFleetMap(text.map.label)
  const { map } = shown
  const selected = selectedId === null ? null : findMember(selectedId)
  const members = fleet.value
  useEffect(() => {
    const view = selectedId === null ? readView() : null
    if (view) map?.showView(view)
    map?.onMove(keepView)
  }, [map])
  useEffect(() => {
    if (map) map.onSelect = (id) => navigate(mapHref(id ? `/map/${id}` : '/'))
  }, [map])
  useEffect(() => map?.select(selected), [map, selected])
  useEffect(() => map?.setFleet(members), [map, members])
  const isKnown = selected !== null
  useEffect(() => {
    map?.setEvent(alert, alert?.alerts.map(alertLabel).join(', '))
    const card = document.querySelector('.device-card')
    if (alert) map?.showEvent(alert, card)
    else if (isKnown && !isAlertPending) map?.showDevice(card)
  }, [map, selectedId, isKnown, alert, isAlertPending])
  const isDeviceShown = isKnown && !alert
  useEffect(() => {
    const card = document.querySelector('.device-card')
    if (!map || !card || !isDeviceShown) return
    // What is in quarantine is loaded later, and makes the card larger.
    const observer = new ResizeObserver(() => void map.clearOf(card))
    observer.observe(card)
    return () => observer.disconnect()
  }, [map, place.value.path, isDeviceShown])
  return { shown, map, selected }
}

/** The charts are loaded with the first track. */
const useTrackPanel = (isWanted: boolean) => {
  const [Panel, setPanel] = useState<typeof TrackPanelType | null>(null)
  const [hasFailed, setHasFailed] = useState(false)
  useReloadWhenBack(isWanted && hasFailed)
  useEffect(() => {
    if (isWanted && !Panel)
      import('./track/TrackPanel.tsx').then(
        ({ TrackPanel }) => setPanel(() => TrackPanel),
        () => setHasFailed(true),
      )
  }, [isWanted, Panel])
  return Panel
}

/** Zones in their colours, where the viewer wants them and may see them. */
const useZones = (map: FleetMap | null) => {
  const isShown = zonesShown.value && canSeeRules()
  const zones = useResource(async (signal) => (isShown ? readZones(signal) : []), [isShown])
  useEffect(() => map?.setZones(zones.data ?? []), [map, zones.data])
}

const MapTools = ({ map }: { map: FleetMap }) => (
  <>
    {canSeeRules() && (
      <IconButton
        icon="zone"
        label={zonesShown.value ? text.zones.hide : text.zones.show}
        isPressed={zonesShown.value}
        onClick={() => {
          zonesShown.value = !zonesShown.value
        }}
      />
    )}
    <IconButton icon="fit" label={text.map.fit} onClick={() => map.fitAll()} />
  </>
)

export default ({ params }: PageProps) => {
  const deviceId = params.deviceId ?? null
  const isTracking = deviceId !== null && place.value.path.endsWith('/track')
  const [isListShown, setIsListShown] = useState(false)
  const TrackPanel = useTrackPanel(isTracking)
  const [track, setTrack] = useState<readonly Location[] | null>(null)
  useEffect(startFleet, [])
  const { alert, isAlertPending } = useAlert(deviceId && place.value.query.get('alert'))
  const { shown, map, selected } = useFollowedFleet({
    selectedId: deviceId,
    alert,
    isAlertPending,
  })
  useZones(map)
  const isMissing = deviceId !== null && !selected && !isLoading.value && !loadError.value
  useTitle(selected?.device.name ?? text.map.title)
  const shownTrack = isTracking ? track : null
  const hasTrack = useRef(false)
  useEffect(() => {
    const next = shownTrack ?? []
    // A track that grows leaves the map where its reader has moved it.
    map?.setTrack(next, !hasTrack.current)
    hasTrack.current = map !== null && next.length > 1
  }, [map, shownTrack])
  useEffect(() => {
    if (!isTracking) map?.setPlayhead(null)
    map?.resize()
  }, [map, isTracking])
  useLayoutEffect(() => setIsListShown(false), [deviceId])
  const onPlayhead = useCallback((at: Place | null) => map?.setPlayhead(at), [map])
  return (
    <div class={`map-page ${isListShown ? 'list-shown' : ''}`}>
      <h1 class="visually-hidden" tabIndex={-1}>
        {text.map.title}
      </h1>
      <FleetList selectedId={deviceId} />
      <div class="list-toggle">
        <IconButton
          icon={isListShown ? 'map' : 'list'}
          label={isListShown ? text.map.hideList : text.map.showList}
          isPressed={isListShown}
          onClick={() => setIsListShown(!isListShown)}
        />
      </div>
      <div class="map-area">
        <MapFrame shown={shown} tools={map && <MapTools map={map} />}>
          {isMissing && (
            <p class="map-note missing" role="status">
              {text.map.noDevice}
            </p>
          )}
          {alert && !isTracking && <AlertCard alert={alert} />}
          {selected && !alert && !isTracking && <DeviceCard member={selected} />}
        </MapFrame>
        {isTracking && deviceId && TrackPanel && (
          <TrackPanel
            key={deviceId}
            deviceId={deviceId}
            name={selected?.device.name ?? ''}
            onTrack={setTrack}
            onPlayhead={onPlayhead}
          />
        )}
      </div>
    </div>
  )
}
