/** Set by the build: the style of the operator's base map, or empty. */
declare const MAP_STYLE_URL: string

declare module 'virtual:base-map' {
  const url: string
  export default url
}
