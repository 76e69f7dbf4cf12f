import type { StyleSpecification } from 'maplibre-gl'
import { text } from '../../../text/text.ts'
import { openOwnMap } from './ownMap.ts'
import { type BaseMap, type Layer, PALETTES, type Theme } from './style.ts'

/* The base map: the operator's, or our own. */

const rasterStyle: StyleSpecification = {
  version: 8,
  sources: { tiles: { type: 'raster', tiles: [MAP_URL], tileSize: 256, maxzoom: 19 } },
  layers: [{ id: 'tiles', type: 'raster', source: 'tiles' }],
}

/** MapLibre waits for ever for a style that does not come, so it is asked for first. */
const requireStyle = async (): Promise<void> => {
  await (await fetch(MAP_URL)).json()
}

/** `MAP_KIND` is a constant of the build, which leaves out what it does not need. */
const open = async (theme: Theme): Promise<BaseMap> => {
  if (MAP_KIND === 'own') return openOwnMap(theme)
  if (MAP_KIND === 'pmtiles') {
    const { openPmtiles } = await import('./pmtilesMap.ts')
    return openPmtiles(MAP_URL, theme)
  }
  if (MAP_KIND === 'style') await requireStyle()
  const style = MAP_KIND === 'tiles' ? rasterStyle : MAP_URL
  return { style, layersOf: () => [], attribution: MAP_ATTRIBUTION }
}

const plainLayers = (theme: Theme): Layer[] => [
  { id: 'plain', type: 'background', paint: { 'background-color': PALETTES[theme].land } },
]

/** Devices are shown without a base map rather than not at all. */
const plainMap = (theme: Theme): BaseMap => ({
  style: { version: 8, sources: {}, layers: plainLayers(theme) },
  layersOf: plainLayers,
  attribution: text.map.noBaseMap,
})

export const loadBaseMap = (theme: Theme): Promise<BaseMap> =>
  open(theme).catch(() => plainMap(theme))
