import type { Plugin } from 'vite'
import { makeBaseMap } from './baseMap.ts'

const ID = 'virtual:base-map'

/** `import url from 'virtual:base-map'` is the address of the base map, made during the build. */
export const baseMapPlugin = (): Plugin => ({
  name: 'base-map',
  resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
  load(id) {
    if (id !== `\0${ID}`) return
    const file = this.emitFile({
      type: 'asset',
      name: 'base-map.json',
      source: JSON.stringify(makeBaseMap()),
    })
    return `export default import.meta.ROLLUP_FILE_URL_${file}`
  },
})
