import type { StyleSpecification } from 'maplibre-gl'

/* The look of our own base map. */

interface Palette {
  sea: string
  land: string
  shore: string
  border: string
  label: string
  halo: string
  track: string
  casing: string
}

export const PALETTES: Record<'light' | 'dark', Palette> = {
  light: {
    sea: '#cfe0f2',
    land: '#f6f5f0',
    shore: '#a9c3de',
    border: '#d3cfc2',
    label: '#6d7284',
    halo: '#f6f5f0',
    track: '#3a51da',
    casing: '#ffffff',
  },
  dark: {
    sea: '#0c1428',
    land: '#1a233f',
    shore: '#33406b',
    border: '#2c3860',
    label: '#8d99bf',
    halo: '#141c36',
    track: '#93a5ff',
    casing: '#0b1020',
  },
}

/** The browser draws the letters itself: the base map needs no font files. */
export const FONT = ['Inter, system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif']

interface BaseMap {
  land: GeoJSON.Feature
  borders: GeoJSON.Feature
  labels: GeoJSON.FeatureCollection
}

export const makeStyle = (data: BaseMap, theme: 'light' | 'dark'): StyleSpecification => {
  const { sea, land, shore, border, label, halo } = PALETTES[theme]
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: data.land, tolerance: 0.8, buffer: 32, maxzoom: 8 },
      borders: { type: 'geojson', data: data.borders, tolerance: 0.8, buffer: 32, maxzoom: 8 },
      labels: { type: 'geojson', data: data.labels, maxzoom: 8 },
    },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-color': sea } },
      {
        id: 'land',
        type: 'fill',
        source: 'land',
        paint: { 'fill-color': land, 'fill-antialias': false },
      },
      {
        id: 'shore',
        type: 'line',
        source: 'land',
        paint: {
          'line-color': shore,
          'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 7, 1.4],
        },
      },
      {
        id: 'borders',
        type: 'line',
        source: 'borders',
        paint: {
          'line-color': border,
          'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.6, 7, 1.6],
        },
      },
      {
        id: 'labels',
        type: 'symbol',
        source: 'labels',
        // Small countries are named once the map is close enough.
        filter: ['>=', ['get', 'area'], ['step', ['zoom'], 90, 2.4, 30, 3.4, 8, 4.4, 1, 5.4, 0]],
        layout: {
          'text-field': ['get', 'name'],
          'text-font': FONT,
          'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10.5, 6, 14],
          'text-max-width': 7,
          'symbol-sort-key': ['-', 0, ['get', 'area']],
        },
        paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.2 },
      },
    ],
  }
}
