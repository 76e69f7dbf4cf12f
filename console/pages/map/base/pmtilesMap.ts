import { addProtocol, type StyleSpecification } from 'maplibre-gl'
import { type Header, PMTiles, TileType } from 'pmtiles'
import type { BaseMap, Theme } from './style.ts'
import { vectorLayers } from './vectorLayers.ts'

/* A base map from one PMTiles archive, of which the browser reads the parts that it shows. */

const SOURCE = 'tiles'
const MAX_MERCATOR_LATITUDE = 85.051129

interface Metadata {
  attribution?: unknown
  vector_layers?: { id: string }[]
}

/** Archives credit in HTML, of which only the text is shown. */
const plainText = (html: unknown): string =>
  typeof html === 'string'
    ? html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&copy;', '©')
        .replaceAll('&amp;', '&')
    : ''

/** Tiles without content are not in the archive. */
const emptyTile = ({ tileType }: Header): ArrayBuffer | Promise<ImageBitmap> =>
  tileType === TileType.Mvt ? new ArrayBuffer(0) : createImageBitmap(new ImageData(1, 1))

const serveTiles = (archive: PMTiles, header: Header): void =>
  addProtocol('pmtiles', async ({ url }, { signal }) => {
    const [z = 0, x = 0, y = 0] = url.split('/').slice(-3).map(Number)
    const tile = await archive.getZxy(z, x, y, signal)
    return { data: tile?.data ?? (await emptyTile(header)) }
  })

const sourceOf = ({
  minZoom,
  maxZoom,
  minLon,
  minLat,
  maxLon,
  maxLat,
  tileType,
}: Header): StyleSpecification['sources'][string] => ({
  ...(tileType === TileType.Mvt
    ? { type: 'vector' as const }
    : { type: 'raster' as const, tileSize: 256 }),
  tiles: ['pmtiles://{z}/{x}/{y}'],
  minzoom: minZoom,
  maxzoom: maxZoom,
  bounds: [
    minLon,
    Math.max(minLat, -MAX_MERCATOR_LATITUDE),
    maxLon,
    Math.min(maxLat, MAX_MERCATOR_LATITUDE),
  ],
})

/** Throws if the archive cannot be read. */
export const openPmtiles = async (url: string, theme: Theme): Promise<BaseMap> => {
  const archive = new PMTiles(url)
  const header = await archive.getHeader()
  const metadata = ((await archive.getMetadata()) ?? {}) as Metadata
  serveTiles(archive, header)
  const names = metadata.vector_layers?.map(({ id }) => id) ?? null
  const layersOf: BaseMap['layersOf'] =
    header.tileType === TileType.Mvt
      ? (shown) => vectorLayers(SOURCE, names, shown)
      : () => [{ id: 'tiles', type: 'raster', source: SOURCE }]
  return {
    style: {
      version: 8,
      sources: { [SOURCE]: sourceOf(header) },
      layers: [...layersOf(theme)],
    },
    layersOf,
    attribution: MAP_ATTRIBUTION || plainText(metadata.attribution),
  }
}
