import type { Provider } from '../samples.ts'

/* What is entered in apps of phones: the address of the source, and what follows it. */

export type AppName = 'traccarClient' | 'osmand' | 'gpsLogger' | 'locus' | 'owntracks' | 'overland'
export type SpeedUnit = 'kn' | 'm/s' | 'km/h'

interface App {
  name: AppName
  /** What `speed` counts that the app sends. */
  speedUnit?: SpeedUnit
  /** Follows the address; without it, the app asks for the id itself. */
  query?: (id: string) => string
}

const APPS: Partial<Record<Provider, readonly App[]>> = {
  osmand: [
    { name: 'traccarClient', speedUnit: 'kn' },
    {
      name: 'osmand',
      speedUnit: 'm/s',
      query: (id) =>
        `?id=${id}&lat={0}&lon={1}&timestamp={2}&accuracy={3}&altitude={4}&speed={5}&bearing={6}`,
    },
    {
      name: 'gpsLogger',
      speedUnit: 'm/s',
      query: (id) =>
        `?id=${id}&lat=%LAT&lon=%LON&timestamp=%TIMESTAMP&accuracy=%ACC&altitude=%ALT&speed=%SPD&bearing=%DIR&batt=%BATT`,
    },
    { name: 'locus', speedUnit: 'm/s', query: (id) => `?id=${id}` },
  ],
  owntracks: [{ name: 'owntracks' }],
  overland: [{ name: 'overland' }],
}

export const appsOf = (provider: Provider): readonly App[] => APPS[provider] ?? []

/** What follows the address of the source, with the id that the phone is to have. */
export const templateOf = ({ query }: App, id: string): string =>
  query?.(encodeURIComponent(id.trim())) ?? ''
