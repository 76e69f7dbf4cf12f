import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import type { Location } from '../../api/types.ts'
import { canSeeRules, readZones } from '../../api/watching.ts'
import type { PageProps } from '../../app/routes.ts'
import { isDark, zonesShown } from '../../format/preferences.ts'
import { navigate, place } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import { useTitle } from '../../ui/Page.tsx'
import type { FleetMap } from './FleetMap.ts'
import { DeviceCard } from './fleet/DeviceCard.tsx'
import { FleetList } from './fleet/FleetList.tsx'
import { findMember, fleet, isLoading, loadError, startFleet } from './fleet/fleet.ts'
import './map.css'
import { mapHref } from './mapHref.ts'
import type { TrackPanel as TrackPanelType } from './track/TrackPanel.tsx'

const themeName = () => (isDark() ? 'dark' : 'light')

/** Opens the map in the element and follows fleet, selection and theme. */
const useFleetMap = (selectedId: string | null) => {
  const element = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<FleetMap | null>(null)
  const [hasFailed, setHasFailed] = useState(false)
  useEffect(() => {
    let opened: FleetMap | null = null
    let isGone = false
    const open = async () => {
      const { FleetMap } = await import('./FleetMap.ts')
      if (isGone || !element.current) return
      opened = await FleetMap.open({
        container: element.current,
        theme: themeName(),
        onSelect: (id) => navigate(mapHref(id ? `/map/${id}` : '/')),
      })
      if (isGone) opened.close()
      else setMap(opened)
    }
    open().catch(() => setHasFailed(true))
    return () => {
      isGone = true
      opened?.close()
    }
  }, [])
  const selected = selectedId === null ? null : findMember(selectedId)
  const members = fleet.value
  const theme = themeName()
  useEffect(() => map?.setTheme(theme), [map, theme])
  useEffect(() => map?.select(selected), [map, selected])
  useEffect(() => map?.setFleet(members), [map, members])
  const isKnown = selected !== null
  useEffect(() => {
    if (isKnown) map?.showDevice()
  }, [map, selectedId, isKnown])
  return { element, map, hasFailed, selected }
}

/** The charts are loaded with the first track. */
const useTrackPanel = (isWanted: boolean) => {
  const [Panel, setPanel] = useState<typeof TrackPanelType | null>(null)
  useEffect(() => {
    if (isWanted && !Panel)
      void import('./track/TrackPanel.tsx').then(({ TrackPanel }) => setPanel(() => TrackPanel))
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
  <div class="map-tools">
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
    <IconButton icon="plus" label={text.map.zoomIn} onClick={() => map.zoomBy(1)} />
    <IconButton icon="minus" label={text.map.zoomOut} onClick={() => map.zoomBy(-1)} />
    <IconButton icon="fit" label={text.map.fit} onClick={() => map.fitAll()} />
  </div>
)

export default ({ params }: PageProps) => {
  const deviceId = params.deviceId ?? null
  const isTracking = deviceId !== null && place.value.path.endsWith('/track')
  const [isListShown, setIsListShown] = useState(false)
  const TrackPanel = useTrackPanel(isTracking)
  const [track, setTrack] = useState<readonly Location[] | null>(null)
  useEffect(startFleet, [])
  const { element, map, hasFailed, selected } = useFleetMap(deviceId)
  useZones(map)
  const isMissing = deviceId !== null && !selected && !isLoading.value && !loadError.value
  useTitle(selected?.device.name ?? text.map.title)
  const shownTrack = isTracking ? track : null
  useEffect(() => map?.setTrack(shownTrack), [map, shownTrack])
  useEffect(() => {
    if (!isTracking) map?.setPlayhead(null)
    map?.resize()
  }, [map, isTracking])
  useEffect(() => setIsListShown(false), [deviceId])
  const onPlayhead = useMemo(
    () => (at: { longitude: number; latitude: number } | null) => map?.setPlayhead(at),
    [map],
  )
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
        <div class="map-frame">
          <div ref={element} class="map-canvas" data-devices={fleet.value.length} />
          {hasFailed && <p class="map-note">{text.map.noWebgl}</p>}
          {isMissing && (
            <p class="map-note missing" role="status">
              {text.map.noDevice}
            </p>
          )}
          {map && <MapTools map={map} />}
          {selected && !isTracking && <DeviceCard member={selected} />}
          <p class="attribution">{map?.attribution}</p>
        </div>
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
