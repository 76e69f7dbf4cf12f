import type { Plugin } from 'vite'
import { makeBaseMap, makeDetails } from './baseMap.ts'

const ID = 'virtual:base-map'

/**
 * `import { baseMapUrl } from 'virtual:base-map'`: the addresses of the base map and of its details,
 * which are made during the build.
 */
export const baseMapPlugin = (): Plugin => ({
  name: 'base-map',
  resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
  load(id) {
    if (id !== `\0${ID}`) return
    const emit = (name: string, value: unknown) =>
      `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'asset', name, source: JSON.stringify(value) })}`
    const { land, borders } = makeDetails()
    return `
      export const baseMapUrl = ${emit('base-map.json', makeBaseMap())}
      export const landDetailsUrl = ${emit('land-details.json', land)}
      export const borderDetailsUrl = ${emit('border-details.json', borders)}
    `
  },
})
