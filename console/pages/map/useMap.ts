import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useReloadWhenBack } from '../../app/reloadWhenBack.ts'
import { isDark } from '../../format/preferences.ts'
import type { FleetMap } from './FleetMap.ts'
import type { MapView } from './MapView.ts'
import type { PlainMap } from './PlainMap.ts'

export interface ShownMap<View extends MapView = MapView> {
  /** The element that the map is drawn in. */
  element: RefObject<HTMLDivElement | null>
  /** Null until it is open. */
  map: View | null
  /** The code of maps could not be loaded, or the browser has no WebGL. */
  failure: 'offline' | 'noWebgl' | null
}

/** Opens a map while the component is shown, in the viewer's theme. MapLibre is loaded with it. */
const useMap = <View extends MapView>(
  load: () => Promise<Pick<typeof MapView, 'open'>>,
  label: string,
): ShownMap<View> => {
  const element = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<View | null>(null)
  const [failure, setFailure] = useState<ShownMap['failure']>(null)
  useReloadWhenBack(failure === 'offline')
  const theme = isDark() ? 'dark' : 'light'
  useEffect(() => {
    let opened: MapView | null = null
    let isGone = false
    const open = async (kind: Pick<typeof MapView, 'open'>) => {
      if (isGone || !element.current) return
      opened = await kind.open({ container: element.current, theme, label })
      if (isGone) opened.close()
      else setMap(opened as View)
    }
    load().then(
      (kind) => open(kind).catch(() => setFailure('noWebgl')),
      () => setFailure('offline'),
    )
    return () => {
      isGone = true
      setMap(null)
      opened?.close()
    }
  }, [])
  useEffect(() => map?.setTheme(theme), [map, theme])
  return { element, map, failure }
}

/** A map with zones, a track and points. */
export const usePlainMap = (label: string): ShownMap<PlainMap> =>
  useMap(async () => (await import('./PlainMap.ts')).PlainMap, label)

/** A map of devices. */
export const useFleetMap = (label: string): ShownMap<FleetMap> =>
  useMap(async () => (await import('./FleetMap.ts')).FleetMap, label)
