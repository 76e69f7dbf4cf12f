/** Set by the build: the address of the operator's base map, or empty. */
declare const MAP_URL: string
/** Set by the build: what is at that address; `own` for none. */
declare const MAP_KIND: 'own' | 'style' | 'tiles' | 'pmtiles'
/** Set by the build: whom the operator's base map credits, as plain text. */
declare const MAP_ATTRIBUTION: string

declare module 'virtual:base-map' {
  export const baseMapUrl: string
  export const landDetailsUrl: string
  export const borderDetailsUrl: string
}
