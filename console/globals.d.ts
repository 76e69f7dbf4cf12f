/** Set by the build: the style or the tiles of the operator's base map, or empty. */
declare const MAP_URL: string
/** Set by the build: whom the operator's base map credits, as plain text. */
declare const MAP_ATTRIBUTION: string

declare module 'virtual:base-map' {
  const url: string
  export default url
}
