import { defineConfig } from 'vite'
import { readMapUrl } from '../scripts/build/map-url.mjs'
import { baseMapPlugin } from './build/baseMapPlugin.ts'

/** An operator's own base map, and whom to credit; empty for ours. */
const { MAP_URL = '', MAP_ATTRIBUTION = '' } = process.env
const { url, kind } = readMapUrl(MAP_URL)

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  base: '/',
  plugins: [baseMapPlugin()],
  define: {
    MAP_URL: JSON.stringify(url),
    MAP_KIND: JSON.stringify(kind),
    MAP_ATTRIBUTION: JSON.stringify(MAP_ATTRIBUTION),
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    assetsDir: 'console',
    // Inline scripts and `data:` URLs of scripts are forbidden by the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
    // Making the base map takes most of the build, as it must.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
})
