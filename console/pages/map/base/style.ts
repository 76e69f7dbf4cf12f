import type { Map as MapLibre, StyleSpecification } from 'maplibre-gl'

/* The look of the base maps. */

interface Palette {
  sea: string
  land: string
  shore: string
  border: string
  road: string
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
    road: '#dcd5c3',
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
    road: '#2f3b66',
    label: '#8d99bf',
    halo: '#141c36',
    track: '#93a5ff',
    casing: '#0b1020',
  },
}

/** The browser draws the letters itself: the base map needs no font files. */
export const FONT = ['Inter, system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif']

export type Theme = 'light' | 'dark'
export type Layer = StyleSpecification['layers'][number]

/** What is under the devices. */
export interface BaseMap {
  style: StyleSpecification | string
  /** Its layers in the colours of a theme; none where they have colours of their own. */
  layersOf: (theme: Theme) => readonly Layer[]
  attribution: string
  /** Called once the map is there. */
  attach?: (map: MapLibre) => void
}
