import { effect, signal } from '@preact/signals'

/* What a viewer chose for this browser. Nothing here is a secret. */

export type Theme = 'system' | 'light' | 'dark'
export type Units = 'metric' | 'nautical' | 'imperial'

const read = <T extends string>(name: string, allowed: readonly T[], otherwise: T): T => {
  const value = localStorage.getItem(`perigee.${name}`) as T | null
  return value !== null && allowed.includes(value) ? value : otherwise
}

export const THEMES: readonly Theme[] = ['system', 'light', 'dark']
export const UNITS: readonly Units[] = ['metric', 'nautical', 'imperial']

export const theme = signal(read('theme', THEMES, 'system'))
export const units = signal(read('units', UNITS, 'metric'))
/** Whether the map of the fleet shows zones. */
export const zonesShown = signal(read('zones', ['shown', 'hidden'], 'shown') === 'shown')

const darkQuery = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(darkQuery.matches)
darkQuery.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches
})

export const isDark = (): boolean =>
  theme.value === 'dark' || (theme.value === 'system' && systemIsDark.value)

export const prefersReducedMotion = (): boolean =>
  matchMedia('(prefers-reduced-motion: reduce)').matches

/** Writes the choices to the document and to the browser's storage when they change. */
export const startPreferences = (): void => {
  effect(() => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
    localStorage.setItem('perigee.theme', theme.value)
  })
  effect(() => localStorage.setItem('perigee.units', units.value))
  effect(() => localStorage.setItem('perigee.zones', zonesShown.value ? 'shown' : 'hidden'))
}
