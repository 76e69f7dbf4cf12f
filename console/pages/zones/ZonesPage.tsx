import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import type { Zone } from '../../api/types.ts'
import { canEditRules, readZones } from '../../api/zonesAndRules.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { useTitle } from '../../ui/Page.tsx'
import { Empty, NotLoaded } from '../../ui/states.tsx'
import { MapFrame } from '../map/MapFrame.tsx'
import type { PlainMap } from '../map/PlainMap.ts'
import { usePlainMap } from '../map/useMap.ts'
import type { Shape } from './shape.ts'
import { ZoneForm } from './ZoneForm.tsx'
import { ZoneList } from './ZoneList.tsx'
import './zones.css'

const shapesOf = (zones: readonly Zone[]): Shape[] => zones.map(({ shape }) => shape as Shape)

const withZone = (zones: readonly Zone[], zone: Zone): Zone[] =>
  zones.some(({ id }) => id === zone.id)
    ? zones.map((one) => (one.id === zone.id ? zone : one))
    : [...zones, zone]

/** Draws the zones but the edited one, which its form draws. */
const useDrawnZones = (
  map: PlainMap | null,
  zones: readonly Zone[] | null,
  editedId: string | null,
) => {
  const hasFitted = useRef(false)
  const drawn = useMemo(
    () => (zones ?? []).filter(({ id }) => !(canEditRules() && id === editedId)),
    [zones, editedId],
  )
  useEffect(() => map?.setZones(drawn, editedId), [map, drawn, editedId])
  useEffect(() => {
    if (!map || !zones || zones.length === 0 || hasFitted.current) return
    hasFitted.current = true
    if (editedId === null) map.fitShapes(shapesOf(zones))
  }, [map, zones, editedId])
  useEffect(() => {
    const edited = zones?.find(({ id }) => id === editedId)
    if (map && edited) map.fitShapes(shapesOf([edited]))
    // Only when another zone is opened, not after each change of one.
  }, [map, editedId, zones === null])
}

/** A click on a zone opens it, unless a form is open already. */
const useZoneClicks = (map: PlainMap | null, isOpen: boolean) =>
  useEffect(() => {
    if (!map || isOpen) return
    const subscriptions = [
      map.map.on('click', 'zone-areas', ({ features }) => {
        const id = features?.[0]?.properties.id
        if (id) navigate(`/zones/${id}`)
      }),
      map.map.on('mouseenter', 'zone-areas', () => {
        map.map.getCanvas().style.cursor = 'pointer'
      }),
      map.map.on('mouseleave', 'zone-areas', () => {
        map.map.getCanvas().style.cursor = ''
      }),
    ]
    return () => {
      for (const one of subscriptions) one.unsubscribe()
    }
  }, [map, isOpen])

export default ({ params }: PageProps) => {
  const zoneId = params.zoneId ?? null
  const zones = useResource(readZones, [])
  const shown = usePlainMap(text.zones.map)
  const { map } = shown
  useDrawnZones(map, zones.data, zoneId)
  useZoneClicks(map, zoneId !== null)
  const edited = zones.data?.find(({ id }) => id === zoneId) ?? null
  const isNew = zoneId === 'new'
  useTitle(edited?.name ?? text.zones.title)
  return (
    <div class="zones-page">
      <section class="zones-panel" aria-label={text.zones.panel}>
        {!zones.data && <NotLoaded of={zones} />}
        {zones.data && zoneId === null && (
          <ZoneList zones={zones.data} onChange={zones.reload} map={map} />
        )}
        {zones.data && (isNew || edited) && (
          <ZoneForm
            key={zoneId}
            zone={edited}
            map={map}
            onStored={(zone) => zones.set((all) => withZone(all, zone))}
            onDeleted={({ id }) => zones.set((all) => all.filter((one) => one.id !== id))}
          />
        )}
        {zones.data && zoneId !== null && !isNew && !edited && !zones.isPending && (
          <Empty icon="zone" title={text.errors.notFoundTitle}>
            {text.errors.notFound}
          </Empty>
        )}
      </section>
      <MapFrame shown={shown} />
    </div>
  )
}
